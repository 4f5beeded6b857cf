"""The panel of money, over rows as the ledger and the rations write them."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.utils.timezone import now

from tests.factories import CredentialFactory
from tests.pages.conftest import flat
from tests.pages.sources import some_staff
from trackers.credentials import sentences
from trackers.credentials.models import Credential, Window
from trackers.jobs.models import Queue
from trackers.money.balances import read_balances
from trackers.money.models import Project, Spending
from trackers.xapi.results import WindowSeen

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = timedelta(hours=1)
AT_14_20 = datetime(2099, 1, 1, 14, 20, tzinfo=UTC)


def project(**given):
    CredentialFactory(name="acme")
    Project.objects.update(**given)
    return Project.objects.get()


def spend(project, day=None, **given):
    return Spending.objects.create(project=project, day=day or now().date(), **given)


def page(staff):
    """The page's text as it is read, and its markup."""
    html = flat(staff.get("/operations/"))
    apart = re.sub(r"</?(strong|a|time)\b[^>]*>", "", html)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", apart)), html


def test_the_money_of_today_is_a_gauge_with_reservations(staff):
    payer = project(posts_a_day=5000, money_a_day=Decimal("25"))
    spend(payer, posts=2000, posts_reserved=100, users=10, users_reserved=2, money=Decimal("10.1"))

    words, html = page(staff)

    assert '<meter min="0" max="5000" high="4500" optimum="0" value="2100"' in html
    # 10.10, and 100 posts at half a cent and 2 accounts at a cent that are reserved.
    assert 'value="10.62" title="10.62">$10.62</data>' in html
    assert re.search(r"Money today \$10\.62 \$10\.62 of \$25\.00", words)
    # The accounts are itemised, so that the sum can be checked.
    paid = "2,100 posts × $0.005 = $10.50, 12 accounts × $0.01 = $0.12"
    assert f"Money today $10.62 $10.62 of $25.00 {paid}" in words
    assert "of which $0.12 for 12 accounts" in flat(staff.get("/"))


def test_owned_reads_are_itemised_at_their_price(staff):
    spend(project(), posts=2100, owned_posts=600, money=Decimal("8.1"))

    words, _ = page(staff)

    paid = "1,500 posts × $0.005 + 600 of our own × $0.001 = $8.10, 0 accounts × $0.01 = $0.00"
    assert f"Money today $8.10 {paid}" in words


def test_counts_of_searches_are_itemised_at_their_price(staff):
    spend(project(), posts=100, counts=2, counts_reserved=1, money=Decimal("0.51"))

    words, _ = page(staff)

    paid = "100 posts × $0.005 = $0.50, 0 accounts × $0.01 = $0.00"
    assert f"Money today $0.52 {paid}, 3 counts of a search × $0.005 = $0.02" in words


def test_counts_of_the_archive_are_itemised_at_their_own_price(staff):
    counts = {"counts": 2, "archive_counts": 2, "archive_counts_reserved": 1}
    spend(project(), posts=100, **counts, money=Decimal("0.53"))

    words, _ = page(staff)

    both = "2 counts of a search × $0.005 = $0.01, 3 counts of X's full archive × $0.01 = $0.03"
    assert both in unescape(words)


@pytest.mark.parametrize(
    ("counts", "paid"),
    [
        (0, "for 100 posts and 0 accounts, some at another price"),
        (1, "for 100 posts, 0 accounts and 1 count of a search, some at another price"),
    ],
)
def test_money_paid_at_another_price_is_named_as_a_whole(staff, counts, paid):
    spend(project(), posts=100, counts=counts, money=Decimal("0.9"))

    words, _ = page(staff)

    assert f"Money today $0.90 {paid}" in words


def test_the_month_is_the_sum_of_its_days(staff):
    payer = project(posts_a_month=100_000)
    today = now().date()
    spend(payer, posts=30, money=Decimal("0.15"))
    for other in {today.replace(day=1), today.replace(day=28)} - {today}:
        spend(payer, day=other, posts=1000, money=Decimal("5"))
    spend(payer, day=today.replace(day=1) - timedelta(days=1), posts=7_000_000)

    months = 30 + 1000 * len({today.replace(day=1), today.replace(day=28)} - {today})
    _, html = page(staff)

    assert f'max="100000" high="90000" optimum="0" value="{months}"' in html
    assert "7,000,0" not in html


def test_the_day_follows_the_clock_of_x(staff):
    payer = project(posts_a_day=1000)
    at = datetime(2026, 3, 10, 23, 59, tzinfo=UTC)
    seen = WindowSeen("GET /2/tweets", 900, 899, at + HOUR, at)
    Window.objects.create(
        app=payer.apps.get(), endpoint=seen.endpoint, limit=900, remaining=899,
        resets_at=seen.resets_at, seen_at=at, learned_at=now(),
    )  # fmt: skip
    spend(payer, day=date(2026, 3, 10), posts=321)
    spend(payer, posts=5)
    assert read_balances()[0].day == date(2026, 3, 10)

    assert 'value="321"' in page(staff)[1]


def test_without_a_budget_the_page_links_to_the_admin(staff):
    payer = project()
    spend(payer, posts=12)

    words, html = page(staff)

    assert "no budget set: set one in the admin" in words
    assert f'href="/admin/trackers/project/{payer.pk}/change/"' in html
    assert "No budget limits what is spent." in words
    assert '<meter min="0" max="' not in html


def test_a_day_without_a_budget_has_what_the_month_leaves(staff):
    project(money_a_month=Decimal("3100"))

    words, _ = page(staff)
    left = read_balances()[0].left

    follows = rf"of {left:,} the limit follows from the other budget"
    assert re.search(rf"Tweet-days today \S+ \S+ {follows}", words)
    assert re.search(
        r"Money today \S+ \S+ of \S+ the limit is today&#x27;s share of the month", words
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"waiting": 0, "needs": 700},
            "Enough for today: about 700 more tweet-days are needed, 1,000 are left.",
        ),
        (
            {"waiting": 0, "needs": 0},
            "Enough for today: no more tweet-days are needed, 1,000 are left.",
        ),
        (
            {"waiting": 1200, "needs": 2200, "runs_dry_at": AT_14_20},
            "Runs dry at 1 Jan, 14:20 UTC: about 1,200 tweets wait until 00:00 UTC, "
            "the oldest first.",
        ),
        (
            {"waiting": 1200, "needs": 2200},
            "Not enough for today: 1,000 tweet-days are left, about 2,200 are needed; "
            "about 1,200 tweets wait until 00:00 UTC, the oldest first.",
        ),
        (
            {"waiting": 1200, "needs": 1200, "posts_a_day": 0},
            "Ran dry: about 1,200 tweets wait until 00:00 UTC, the oldest first.",
        ),
        ({}, "1,000 tweet-days are left today; what the day needs is not known yet."),
    ],
)  # fmt: skip
def test_a_sentence_says_whether_the_money_lasts(staff, given, sentence):
    reckoned = now() if given else None
    project(**{"posts_a_day": 1000, "rationed_at": reckoned, **given})

    assert sentence in page(staff)[0]


def test_a_project_without_an_enabled_credential_is_not_short_of_money(staff):
    project(posts_a_day=600, rationed_at=now(), needs=1858, waiting=1258)
    Credential.objects.update(disabled_at=now())

    words, _ = page(staff)

    paying = "It pays for nothing now: none of its credentials is enabled."
    assert f"{paying} 600 tweet-days are left today." in words
    assert "needed" not in words


def test_an_outdated_forecast_is_not_shown_as_current(staff):
    project(posts_a_day=1000, rationed_at=now() - HOUR, needs=5, waiting=0)

    words, _ = page(staff)

    assert "what the day needs was last estimated 1 h ago" in words
    assert "Enough for today" not in words


def test_a_depleted_project_says_until_when_and_what_x_said(staff):
    sentence = "402 Payment Required: credits depleted"
    project(depleted_until=now() + HOUR, depleted_reason=sentence, depletions=1)

    words, html = page(staff)

    why = sentences.depleted("acme", sentence)
    assert re.search(rf"acme depleted .*? {why} Next try in 59 min\.", words)
    assert "The project acme is depleted." in words
    # The credential below it too, with the reason.
    assert html.count('<span class="badge depleted">depleted</span>') == 2
    assert html.count(sentence) == 3
    assert "The project acme is depleted." in staff.get("/?part=now").content.decode()


def test_a_button_retries_a_depleted_project(staff, client):
    made = project(depleted_until=now() + HOUR, depleted_reason="402", depletions=1)
    Queue.objects.filter(pk="tweet:update").update(held_until=now() + HOUR)
    address = f"/operations/projects/{made.pk}/ask"
    assert f'action="{address}"' in staff.get("/operations/?part=figures").content.decode()

    text = staff.post(address, follow=True).content.decode()

    made.refresh_from_db()
    assert (made.depleted_until, made.depletions) == (None, 0)
    assert Queue.objects.get(pk="tweet:update").held_until is None
    assert "acme: X is asked again with the next batch." in text
    assert staff.post("/operations/projects/99/ask").status_code == 404
    assert some_staff(client, "view_project").post(address).status_code == 403


def test_the_count_of_x_is_shown_with_its_drift_and_the_cap(staff):
    project(
        usage_read_at=now(), usage_of_month=10_050, ours_of_month=10_000, cap=2_000_000,
        cap_resets_on=date(2026, 12, 15),
    )  # fmt: skip

    words, _ = page(staff)

    assert re.search(
        r"X's own count, read (just now|\d+ s ago): 10,050 this month; ours was 10,000 then: \+50",
        words,
    )
    assert "cap 2,000,000, reset on 15 December" in words

    Project.objects.update(ours_of_month=10_050)
    same = r"X's own count, read (just now|\d+ s ago): 10,050 this month, the same as ours then"
    assert re.search(same, page(staff)[0])

    assert "Credits left" not in words
    Project.objects.update(credits_left="48.2", credits_read_at=now())
    assert "Credits left at X: $48.20, read" in page(staff)[0]

    Project.objects.update(usage_problem="403 Client Forbidden")
    assert "could not be read: 403 Client Forbidden" in page(staff)[0]


def test_the_terms_of_x_are_shown_below_the_credentials(staff):
    project()

    assert "one app per use case" in page(staff)[0]
