import re
from datetime import timedelta
from html import escape

import pytest
from django.contrib.admin.models import LogEntry

from tests.factories import id_born
from tests.pages.sources import gap, now, paged, some_staff, source, words
from trackers.credentials.sentences import NONE_YET
from trackers.ingest.sources.models import Source, SourceDay, SourcePoll
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "typed", "of"),
    [
        ("account", "@nasa", "nasa"),
        ("account", " nasa ", "nasa"),
        ("account", "https://x.com/nasa", "nasa"),
        ("account", "https://twitter.com/NASA/with_replies?lang=en", "NASA"),
        ("account", "11348282", "11348282"),
        ("account", "0011348282", "11348282"),
        ("account", "https://x.com/i/user/11348282", "11348282"),
        ("account", "@11348282", "@11348282"),
        ("mentions", "11348282", "11348282"),
        ("mentions", "x.com/nasa/", "nasa"),
        ("mentions", "@nasa", "nasa"),
        ("list", "1234", "1234"),
        ("list", "https://x.com/i/lists/1234", "1234"),
        ("list", "https://mobile.twitter.com/i/lists/1234/members", "1234"),
        ("search", " #artemis  lang:en\n", "#artemis lang:en"),
        ("search", "https://x.com/search?q=%23artemis%20lang%3Aen&src=typed", "#artemis lang:en"),
        ("search", "a" * 512, "a" * 512),
        ("stream", "#artemis -is:retweet", "#artemis -is:retweet"),
        ("stream", "b" * 1024, "b" * 1024),
    ],
)
def test_pasted_names_and_links_are_understood(staff, kind, typed, of):
    page = staff.post("/sources/", {"kind": kind, "of": typed})

    made = Source.objects.get()
    assert page.headers["Location"] == f"/sources/{made.pk}/"
    assert (made.kind, made.of) == (kind, of)
    assert (made.every, made.pages, made.backfill) == (
        timedelta(minutes=5), 10, timedelta(days=1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "typed", "kind", "of"),
    [
        ("account", "https://x.com/i/lists/1234", "list", "1234"),
        ("account", "x.com/search?q=%23artemis%20lang%3Aen&f=live", "search", "#artemis lang:en"),
        ("account", "https://twitter.com/hashtag/Artemis?src=hash", "search", "#Artemis"),
        ("account", "https://x.com/hashtag/%E6%9C%88", "search", "#月"),
        ("account", "#artemis", "search", "#artemis"),
        ("account", "$NASA", "search", "$NASA"),
        ("list", "@nasa", "account", "nasa"),
        ("list", "https://x.com/nasa", "account", "nasa"),
        ("search", "https://x.com/nasa/", "account", "nasa"),
        ("search", "https://x.com/i/user/11348282", "account", "11348282"),
        ("search", "https://x.com/i/lists/1234", "list", "1234"),
        ("search", "https://x.com/hashtag/artemis", "search", "#artemis"),
        ("search", "@nasa", "search", "@nasa"),
        ("search", "https://x.com/nasa/status/20", "search", "https://x.com/nasa/status/20"),
        ("stream", "https://x.com/nasa", "stream", "from:nasa"),
        ("stream", "https://x.com/hashtag/artemis", "stream", "#artemis"),
        ("stream", "https://x.com/search?q=%23artemis", "stream", "#artemis"),
        ("stream", "@nasa", "stream", "@nasa"),
    ],
)
def test_names_and_links_become_the_source_that_they_mean_whatever_was_chosen(
    staff, chosen, typed, kind, of
):
    staff.post("/sources/", {"kind": chosen, "of": typed})

    made = Source.objects.get()
    assert (made.kind, made.of) == (kind, of)


def test_the_link_of_a_post_is_offered_to_be_tracked(staff):
    link = "https://x.com/nasa/status/1650000000000000000"

    page = staff.post("/sources/", {"kind": "account", "of": link}).content.decode()

    button = f'<button class="quiet" formaction="/tweets/track" name="lines" value="{link}">'
    assert button in page
    staff.post("/tweets/track", {"kind": "account", "of": link, "lines": link})
    assert Tweet.objects.get().pk == 1650000000000000000


@pytest.mark.parametrize(
    ("kind", "typed", "why"),
    [
        ("account", "", "Enter whose posts"),
        ("account", "  ", "Enter whose posts"),
        ("account", "na sa", "1 to 15 letters, digits or underscores"),
        ("account", "a" * 16, "1 to 15 letters, digits or underscores"),
        ("account", "99999999999999999999", "1 to 15 letters, digits or underscores"),
        ("account", "https://x.com/i/user/nasa", "does not name an account"),
        ("account", "násá", "1 to 15 letters, digits or underscores"),
        ("account", "https://x.com/search?q=", "Choose “A search”"),
        ("account", "https://x.com/nasa/lists/space", "does not say its number"),
        ("list", "https://x.com/nasa/lists/space", "does not say its number"),
        ("mentions", "https://x.com/i/lists/1234", "Choose “A list”"),
        ("mentions", "#artemis", "is not a username"),
        ("account", "https://x.com/nasa/status/20", "the link of a single post"),
        ("list", "https://nitter.net/nasa/status/20#m", "the link of a single post"),
        ("account", "https://example.com/nasa", "is not a username"),
        ("mentions", "", "Enter who is mentioned"),
        ("list", "", "Enter which list"),
        ("list", "space news", "is not a list"),
        ("list", "https://x.com/explore", "not a link to a list"),
        ("list", "99999999999999999999", "is not a list"),
        ("search", "", "Enter what to search for"),
        ("search", "a" * 513, "of at most 512 characters; this one has 513"),
        ("stream", "", "Enter which posts"),
        ("stream", "a" * 1025, "of at most 1,024 characters; this one has 1,025"),
        ("import", "file.csv", "Select a valid choice"),
        ("account", "<script>alert(1)</script>", "&lt;script&gt;"),
    ],
)
def test_errors_are_shown_and_the_input_is_kept(staff, kind, typed, why):
    page = staff.post("/sources/", {"kind": kind, "of": typed}).content.decode()

    assert why in page
    assert "<script>alert" not in page
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("name", "typed", "why"),
    [
        ("every", "1s", "5 seconds at least and 1 day at most"),
        ("every", "2d", "5 seconds at least and 1 day at most"),
        ("every", "soon", "is not a duration"),
        ("pages", "0", "1 to 500 pages"),
        ("pages", "501", "1 to 500 pages"),
        ("backfill", "-1:00:00", "cannot be negative"),
        ("late_by", "-1:00:00", "cannot be negative"),
        ("late_by", "25h", "Give at most 1 day: each poll reads that much again."),
    ],
)
def test_a_setting_out_of_bounds_is_refused_and_shown(staff, name, typed, why):
    page = staff.post("/sources/", {"kind": "account", "of": "nasa", name: typed})

    html = page.content.decode()
    assert why in html
    assert '<details class="more" open>' in html
    assert not Source.objects.exists()


def test_settings_are_accepted_as_people_write_them(staff):
    staff.post(
        "/sources/",
        {
            "kind": "search", "of": "a", "every": "1h 30m", "pages": "3", "backfill": "",
            "late_by": "2m", "exclude_retweets": "on", "priority": "2", "owner": "science",
        },
    )  # fmt: skip

    made = Source.objects.get()
    assert (made.every, made.pages, made.backfill) == (timedelta(minutes=90), 3, None)
    assert (made.late_by, made.priority, made.owner) == (timedelta(minutes=2), 2, "science")
    assert (made.exclude_retweets, made.exclude_replies) == (True, False)


def test_exclusions_of_a_stream_are_refused_with_the_rule_to_add(staff):
    page = staff.post("/sources/", {"kind": "stream", "of": "a", "exclude_replies": "on"})

    assert "Add -is:reply to the rule" in page.content.decode()
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("there", "kind", "typed"),
    [
        ({"of": "nasa"}, "account", "@NASA"),
        ({"of": "old", "username": "nasa"}, "account", "nasa"),
        ({"of": "nasa", "account_id": 11348282}, "account", "11348282"),
        ({"of": "11348282"}, "account", "https://x.com/i/user/11348282"),
        ({"kind": "search", "of": "a b"}, "search", "a  b"),
        ({"kind": "list", "of": "12"}, "list", "https://x.com/i/lists/12"),
    ],
)
def test_an_existing_source_cannot_be_added_again(staff, there, kind, typed):
    made = source(**there)

    page = staff.post("/sources/", {"kind": kind, "of": typed}).content.decode()

    assert f'It already exists: <a href="/sources/{made.pk}/">' in page
    assert Source.objects.count() == 1


def test_an_accounts_posts_and_its_mentions_are_two_sources(staff):
    source()

    staff.post("/sources/", {"kind": "mentions", "of": "nasa"})

    assert Source.objects.count() == 2


def test_a_new_source_is_polled_at_once(staff):
    page = staff.post("/sources/", {"kind": "account", "of": "@nasa"}, follow=True)

    assert "Now watching @nasa&#x27;s posts." in page.content.decode()
    assert SourcePoll.objects.get().due_at <= now()
    assert "New" in page.content.decode()


def test_the_form_shows_the_possible_cost(staff):
    assert "288 polls a day (one every 5 minutes)" in staff.get("/sources/").content.decode()

    given = {"kind": "search", "of": "", "every": "30s", "pages": "2"}
    text = staff.get("/sources/", {"part": "cost", **given}).content.decode()
    assert "2,880 polls a day (one every 30 seconds)" in text
    assert "200 at most: $2,880.00 a day is the most that it can cost" in text
    assert "Have X count its posts first, for $0.005" in text
    text = staff.get("/sources/?part=cost&every=never").content.decode()
    assert "one every 5 minutes" in text
    text = staff.get("/sources/?part=cost&kind=stream").content.decode()
    assert "is not polled" in text
    assert "$0.005 each" in text
    assert "Have X count" not in text


def test_a_measured_cost_takes_the_place_of_what_is_possible(staff):
    made = source()
    assert "measured" not in staff.get(f"/sources/{made.pk}/edit/").content.decode()
    today = now().date()
    for back, money in ((0, "1.50"), (1, "0.50")):
        SourceDay.objects.create(source=made, day=today - timedelta(days=back), money=money)

    page = staff.get(f"/sources/{made.pk}/edit/").content.decode()

    assert "It cost $1.00 a day, measured in the last 2 days." in page


def test_a_search_is_not_added_by_having_it_counted(staff):
    page = staff.post("/sources/", {"kind": "search", "of": "#artemis", "count": "1"})

    assert escape(NONE_YET.split("`")[0].strip()) in page.content.decode()
    assert 'value="#artemis"' in page.content.decode()
    assert not Source.objects.exists()


def edited(**changed):
    """What the form of an account that is there sends."""
    return {
        "of": "nasa", "every": "5m", "pages": "10", "backfill": "1d", "late_by": "",
        "priority": "1", "owner": "", **changed,
    }  # fmt: skip


def edit(staff, made, **changed):
    return staff.post(f"/sources/{made.pk}/edit/", edited(**{"of": made.of, **changed}))


def due(made):
    return SourcePoll.objects.get(key=made.pk).due_at <= now()


def test_a_change_takes_effect_at_once_and_keeps_the_state_of_polls(staff):
    made = source(latest_id=77, yielded=5, due_in=300)
    assert f'href="/sources/{made.pk}/edit/"' in paged(staff, made)
    assert "288 polls a day" in staff.get(f"/sources/{made.pk}/edit/").content.decode()

    answer = edit(staff, made, every="30s", owner="science", kind="search")

    assert answer.headers["Location"] == f"/sources/{made.pk}/"
    made.refresh_from_db()
    assert (made.every, made.owner) == (timedelta(seconds=30), "science")
    assert (made.kind, made.of, made.latest_id, made.yielded) == ("account", "nasa", 77, 5)
    assert due(made)
    assert LogEntry.objects.get().change_message.startswith("Changed every, owner")


def test_unchanged_settings_keep_the_next_poll(staff):
    made = source(due_in=300)

    edit(staff, made)

    assert not due(made)
    assert not LogEntry.objects.exists()


def test_another_spelling_of_the_account_keeps_its_state_and_polls_nothing(staff):
    made = source(latest_id=77, asked_at_ms=88, account_id=11, username="NASA", due_in=300)
    missing = gap(made)

    edit(staff, made, of="https://x.com/nasa")

    made.refresh_from_db()
    missing.refresh_from_db()
    assert (made.of, made.latest_id, made.account_id) == ("nasa", 77, 11)
    assert missing.closed_at is None
    assert not due(made)


def test_changing_the_search_says_which_gap_is_given_up(staff):
    since = now() - timedelta(days=4)
    made = source("search", "#artemis", latest_id=id_born(since))
    gap(made, "reach")
    gap(made, "quota")

    edit(staff, made, of="#mars")

    page = words(staff.get(f"/sources/{made.pk}/").content.decode())
    assert f"Given up and no longer read, of “#artemis”: posts from {since:%Y-%m-%d %H:%M}" in page
    assert "1 gap" in page


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"of": ""}, "Enter whose posts"),
        ({"every": "1s"}, "5 seconds at least and 1 day at most"),
        ({"of": "esa"}, "It already exists"),
    ],
)
def test_a_refused_change_says_why_and_changes_nothing(staff, changed, why):
    made = source()
    source(of="esa")

    page = edit(staff, made, pages="20", **changed)

    assert page.status_code == 400
    assert why in page.content.decode()
    made.refresh_from_db()
    assert (made.of, made.pages) == ("nasa", 10)


@pytest.mark.parametrize(
    ("kind", "has"),
    [("stream", {"of", "priority", "owner"}), ("import", {"priority", "owner"})],
)
def test_the_form_has_only_settings_of_its_kind(staff, kind, has):
    made = source(kind, "a")

    page = staff.get(f"/sources/{made.pk}/edit/").content.decode()

    assert set(re.findall(r'<(?:input|select)[^>]* id="id_(\w+)"', page)) == has
    assert edit(staff, made, owner="me").status_code == 302
    made.refresh_from_db()
    assert (made.of, made.owner) == ("a", "me")


def test_the_form_needs_the_permission_to_change_sources(client):
    looker, made = some_staff(client, "view_source"), source()

    assert "/edit/" not in paged(looker, made)
    assert looker.get(f"/sources/{made.pk}/edit/").status_code == 403
