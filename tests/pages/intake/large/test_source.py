from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest

from tests.factories import CredentialFactory, TweetFactory, id_born
from tests.pages.conftest import watched
from tests.pages.sources import gap, now, paged, some_staff, source, words
from trackers.ingest.files.models import Import
from trackers.ingest.polls.sweep import Sweep
from trackers.ingest.sources.models import (
    SearchCount,
    Source,
    SourceDay,
    SourcePoll,
    SourceTweet,
)

pytestmark = pytest.mark.django_db


def test_the_cursor_is_described_in_words(staff):
    newest = datetime(2026, 11, 20, 12, 3, 20, tzinfo=UTC)
    made = source(latest_id=id_born(newest), late_by=timedelta(seconds=5), due_in=60)

    text = words(paged(staff, made))

    assert "Everything up to 2026-11-20 12:03:14 UTC has been read" in text or (
        "Everything up to 2026-11-20 12:03:15 UTC has been read" in text
    )
    assert "has been read. Posts up to 5 s late are still found" in text

    gap(made)
    text = words(paged(staff, made))
    assert "has been read, except for the gaps below. Posts up to 5 s late" in text


def test_a_running_sweep_shows_its_progress(staff):
    oldest = datetime(2026, 11, 20, 11, 0, tzinfo=UTC)
    sweep = asdict(Sweep("poll", None, None, pages_left=6, pages=4, oldest_id=id_born(oldest)))
    made = source(sweep=sweep, due_in=60)

    text = words(paged(staff, made))

    assert (
        "A poll is under way: 4 pages read, down to 2026-11-20 11:00:00 UTC ; 6 more before" in text
    )
    assert "Not read to the end yet" in text


def test_a_gap_shows_its_period_reason_and_advice(staff):
    made = source(due_in=60)
    lost = gap(made, "reach", from_id=None, to_id=id_born(datetime(2026, 3, 1, tzinfo=UTC)))
    filling = gap(made, "budget")
    gap(made, "quota", closed=True)
    Source.objects.update(filling=filling)

    text = words(paged(staff, made))

    assert "the beginning 2026-03-01 00:00:00 UTC lost" in text
    assert "X shows nothing older : a search of X's full archive can fill it" in unescape(text)
    assert "being filled the pages of a poll were used up : the next polls will fill it" in text
    assert "filled now" in text or "filled just now" in text
    assert lost.is_lost


def test_the_lost_gap_of_mentions_is_filled_by_a_file_alone(staff):
    made = source("mentions", due_in=60)
    gap(made, "reach")

    text = words(paged(staff, made))

    assert "X shows nothing older : only an imported file can fill it" in text
    assert "Search the full archive…" not in text


def test_given_up_gaps_are_not_called_filled_and_lost_ones_name_their_search(staff):
    made = source(due_in=60)
    gap(made, "quota", closed=True, was_of="#artemis")
    gap(made, "reach", was_of="#artemis")

    text = words(paged(staff, made))

    assert "given up" in text
    assert "filled" not in text
    assert text.count("of “#artemis”, as the source was then") == 2
    assert (
        "lost X shows nothing older : of “#artemis”, as the source was then; only an imported"
        in text
    )


def test_the_lost_gap_of_a_search_leads_to_the_archive_and_to_its_cost(staff):
    made = source("search", "#artemis", due_in=60)
    lost = gap(made, "reach")
    text = unescape(words(paged(staff, made)))
    assert "a search of X's full archive can fill it, where the plan includes that" in text
    assert "Search the full archive…" in text

    question = unescape(words(staff.post(f"/sources/{made.pk}/full-archive").content.decode()))
    assert "Search X's full archive for" in question
    assert "X bills each at the price of a post" in question
    assert not made.gaps.exclude(archive_asked_at=None).exists()

    refused = staff.post(f"/sources/{made.pk}/full-archive", {"sure": "yes"}, follow=True)
    assert "X takes only bearer tokens of the v2 API" in unescape(words(refused.content.decode()))
    CredentialFactory()
    staff.post(f"/sources/{made.pk}/full-archive", {"sure": "yes"})
    lost.refresh_from_db()
    assert lost.archive_asked_at is not None
    text = unescape(words(paged(staff, made)))
    assert "X's full archive is searched for it" in text
    assert "Search the full archive…" not in text


def test_a_lost_gap_shows_what_x_counts_in_it(staff):
    made = source("search", "#artemis", due_in=60)
    lost = gap(made, "reach", first=3 * 1440, last=60)
    text = unescape(words(paged(staff, made)))
    assert "Count lost posts…" in text
    assert "X counts" not in text
    question = unescape(words(staff.post(f"/sources/{made.pk}/count-lost").content.decode()))
    assert "That is about 1 request, for $0.01." in question

    made.gaps.update(counted=1200, counted_from=datetime(2026, 3, 1, tzinfo=UTC))
    made.gaps.update(from_id=id_born(datetime(2026, 2, 1, tzinfo=UTC)))
    text = unescape(words(paged(staff, made)))
    assert "file; X counts 1,200 posts in it from 2026-03-01 00:00:00 UTC on" in text
    made.gaps.update(from_id=id_born(datetime(2026, 3, 1, tzinfo=UTC)))
    assert "X counts 1,200 posts in it from" not in unescape(words(paged(staff, made)))
    assert lost.is_lost


def test_the_page_of_a_search_shows_what_x_counted(staff):
    made = source("search", "#artemis", due_in=60)
    assert "X itself counted" not in words(staff.get(f"/sources/{made.pk}/").content.decode())
    week = {"since": now() - timedelta(days=7), "until": now(), "by_hour": [1234]}
    count = {"source": made, "counted_at": now() - timedelta(minutes=125), "posts": 1234}
    SearchCount.objects.create(**count, **week, money=Decimal("0.005"))

    text = words(staff.get(f"/sources/{made.pk}/").content.decode())

    assert "X itself counted 1,234 posts of it 2 h" in text
    assert "ago , in the seven days before that, for $0.0050." in text


def test_a_gap_says_why_the_archive_was_refused(staff):
    made = source("search", "#artemis", due_in=60)
    gap(made, "reach")
    made.gaps.update(archive_refusal="one: X refused it.")

    assert "lost X shows nothing older : one: X refused it" in words(paged(staff, made))


def test_the_archive_is_for_one_source_at_a_time(staff):
    made = source("search", "#artemis", due_in=60)
    gap(made, "reach")

    assert staff.post("/sources/act", {"act": "full-archive", "ids": [made.pk]}).status_code == 404


def yielded(made, tweet, *, late=False, seen_at=None):
    SourceTweet.objects.create(source=made, tweet_id=tweet.pk, seen_at=seen_at or now(), late=late)


def test_the_leak_meter_lists_late_posts(staff):
    made = source(due_in=60, leaked=1, yielded=2, overlapped_at=now())
    born = now() - timedelta(minutes=30)
    tweet = TweetFactory(id=id_born(born))
    yielded(made, tweet, late=True, seen_at=born + timedelta(minutes=10))

    page = paged(staff, made)

    assert "1 late : 1 in 2 posts" in words(page)
    assert f'href="/tweets/{tweet.pk}/"' in page
    assert "10 min" in words(page)


def test_late_posts_and_the_edges_of_gaps_have_their_texts(staff, client):
    made = source(due_in=60, leaked=1)
    before, after = watched(1, text="Before <the gap>"), watched(2, text="After it")
    late, gone = watched(3, text="Came late"), watched(4, text="Not shown", gone_at=now())
    gap(made, from_id=before.pk, to_id=after.pk)
    for tweet in (late, gone):
        yielded(made, tweet, late=True)

    part = f"/sources/{made.pk}/?part=detail"
    page = staff.get(part).content.decode()
    hidden = some_staff(client, "view_source").get(part).content.decode()

    assert "Before &lt;the gap&gt;" in page
    for text in ("After it", "Came late"):
        assert text in page
        assert text not in hidden
    assert "Not shown" not in page


def test_the_leak_meter_distinguishes_no_leaks_from_no_measurements(staff):
    assert "Not measured yet" in paged(staff, source(of="a", due_in=60))
    measured = source(of="b", due_in=60, overlapped_at=now())
    assert "None: no post appeared more than" in paged(staff, measured)


def test_the_newest_posts_are_shown_as_on_the_page_of_tweets(staff):
    made, other = source(due_in=60), source(of="other", due_in=60)
    ours, theirs = watched(1, text="Of <ours>"), watched(2, text="Of theirs")
    yielded(made, ours)
    yielded(other, theirs)

    page = staff.get(f"/sources/{made.pk}/").content.decode()

    assert "Of &lt;ours&gt;" in page
    assert "Of theirs" not in page
    assert f'id="row-{ours.pk}"' in staff.get(f"/sources/{made.pk}/?part=rows").content.decode()


def test_the_page_of_a_tweet_names_its_source(staff):
    first, other = source(of="a"), source("search", "<b>")
    tweet = watched()
    yielded(first, tweet)
    yielded(other, tweet, late=True)

    page = staff.get(f"/tweets/{tweet.pk}/").content.decode()

    assert f'href="/sources/{first.pk}/"' in page
    assert "search: &lt;b&gt;" in page
    assert ", late" in page


def test_a_person_polls_pauses_resumes_and_removes_a_source(staff):
    made = source(due_in=500)

    staff.post(f"/sources/{made.pk}/poll")
    assert SourcePoll.objects.get().due_at <= now()
    staff.post(f"/sources/{made.pk}/pause")
    assert not SourcePoll.objects.exists()
    assert "Resume" in paged(staff, made)
    staff.post(f"/sources/{made.pk}/resume")
    assert SourcePoll.objects.get().due_at <= now()
    assert staff.get(f"/sources/{made.pk}/pause").status_code == 405
    assert staff.post(f"/sources/{made.pk}/explode").status_code == 404
    page = staff.post(f"/sources/{made.pk}/remove", follow=True)
    assert page.redirect_chain[-1][0] == "/sources/"
    assert not Source.objects.exists()


@pytest.mark.parametrize("id", ["1", "99999999999999999999999"])
def test_an_unknown_source_is_404(staff, id):
    for address in (f"/sources/{id}/", f"/sources/{id}/?part=detail"):
        assert staff.get(address).status_code == 404
    assert staff.post(f"/sources/{id}/pause").status_code == 404


def test_view_permission_shows_no_form_and_no_buttons(client):
    looker, made = some_staff(client, "view_source"), source(due_in=60)

    assert "What do you want to watch?" not in looker.get("/sources/").content.decode()
    page = looker.get(f"/sources/{made.pk}/").content.decode()
    assert 'action="/sources/' not in page
    assert looker.post("/sources/", {"kind": "account", "of": "a"}).status_code == 403
    for act in ("poll", "pause", "resume", "remove"):
        assert looker.post(f"/sources/{made.pk}/{act}").status_code == 403


def test_the_page_needs_the_view_permission(client):
    made = source()

    for address in ("/sources/", "/sources/?part=cost", f"/sources/{made.pk}/"):
        assert client.get(address).headers["Location"].startswith("/login/")
    assert client.post(f"/sources/{made.pk}/remove").status_code == 302
    assert Source.objects.exists()


def test_a_stream_whose_gaps_no_poll_fills_has_the_button_that_its_advice_names(staff):
    made = source("stream", "#artemis", rule_id=7, due_in=0)
    SourcePoll.objects.filter(key=made.pk).update(strikes=4)
    assert "poll it now to try again" in words(paged(staff, made))
    assert f'action="/sources/{made.pk}/poll"' in paged(staff, made)

    staff.post(f"/sources/{made.pk}/poll")

    assert SourcePoll.objects.get(key=made.pk).strikes == 0
    assert f'action="/sources/{made.pk}/poll"' not in paged(staff, made)


def test_a_paused_import_has_a_button_on_its_page_and_in_its_report(staff):
    made = source("import", "ids.txt", paused_at=now())
    given = {"uploaded_at": now(), "began_at": now(), "parts": 2}
    Import.objects.create(source=made, format="ids", **given)
    address = f'action="/sources/{made.pk}/resume"'
    assert address in paged(staff, made)
    assert address in staff.get(f"/sources/import/{made.pk}/").content.decode()

    staff.post(f"/sources/{made.pk}/resume")

    made.refresh_from_db()
    assert made.paused_at is None
    assert address not in staff.get(f"/sources/import/{made.pk}/").content.decode()


def brought(made, back, **given):
    SourceDay.objects.create(source=made, day=now().date() - timedelta(days=back), **given)


def test_posts_and_their_cost_are_shown_by_day(staff):
    made = source()
    brought(made, 3, posts=300, again=20, billed=310, money=Decimal("1.55"))
    brought(made, 0, posts=100, billed=100, money=Decimal("0.5"))
    brought(made, 40, posts=9999, billed=9999, money=Decimal("50"))

    text = words(staff.get(f"/sources/{made.pk}/?part=figures").content.decode())

    assert "New posts a day · 400 in 30 days, at most 300 a day" in text
    # 2.05 dollars in four days, and for four hundred new posts.
    assert "Cost a day $0.5125 Cost of a new post $0.0051 Tweet-days billed 410" in text
    assert "In all $2.05 What reading it cost in the last 4 days." in text


def test_a_source_without_posts_says_so_and_costs_nothing(staff):
    made = source()

    text = words(staff.get(f"/sources/{made.pk}/").content.decode())

    assert "It brought nothing in the last 30 days." in text
    assert "Cost a day" not in text


def test_an_import_costs_nothing(staff):
    made = source("import", "old.csv")
    brought(made, 0, posts=5)

    said = words(staff.get(f"/sources/{made.pk}/?part=figures").content.decode())

    assert "Cost a day $0 Cost of a new post $0" in said


def test_the_days_can_be_exported(staff, client):
    made = source()
    brought(made, 1, posts=3, again=2, late=1, billed=4, money=Decimal("0.02"))

    answer = staff.get(f"/sources/{made.pk}/days.csv")

    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0] == "day,posts,repeats,leaks,tweet_days,money"
    assert lines[1].endswith(",3,2,1,4,0.02")
    assert staff.get(f"/sources/{made.pk}/days.xls").status_code == 404
    assert some_staff(client).get(f"/sources/{made.pk}/days.csv").status_code == 403
