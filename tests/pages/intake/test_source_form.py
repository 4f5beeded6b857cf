from __future__ import annotations

from datetime import timedelta

import pytest

from tests.pages.sources import now, source
from trackers.ingest.sources.models import Source, SourcePoll

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "typed", "of"),
    [
        ("account", "@nasa", "nasa"),
        ("account", " nasa ", "nasa"),
        ("account", "https://x.com/nasa", "nasa"),
        ("account", "https://twitter.com/NASA/with_replies?lang=en", "NASA"),
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
def test_what_people_paste_is_understood(staff, kind, typed, of):
    page = staff.post("/sources/", {"kind": kind, "of": typed})

    made = Source.objects.get()
    assert page.headers["Location"] == f"/sources/{made.pk}/"
    assert (made.kind, made.of) == (kind, of)
    assert (made.every, made.pages, made.backfill) == (
        timedelta(minutes=5), 10, timedelta(days=1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "typed", "why"),
    [
        ("account", "", "Enter whose posts"),
        ("account", "  ", "Enter whose posts"),
        ("account", "na sa", "1 to 15 letters, digits or underscores"),
        ("account", "a" * 16, "1 to 15 letters, digits or underscores"),
        ("account", "násá", "1 to 15 letters, digits or underscores"),
        ("account", "https://x.com/i/lists/1234", "Choose “A list”"),
        ("account", "https://x.com/search?q=a", "Choose “A search”"),
        ("account", "https://x.com/nasa/status/20", "a link to a single post"),
        ("account", "https://example.com/nasa", "is not a username"),
        ("mentions", "", "Enter who is mentioned"),
        ("list", "", "Enter which list"),
        ("list", "space news", "is not a list"),
        ("list", "https://x.com/nasa", "not a link to a list"),
        ("list", "99999999999999999999", "is not a list"),
        ("search", "", "Enter what to search for"),
        ("search", "a" * 513, "of at most 512 characters; this one has 513"),
        ("stream", "", "Enter which posts"),
        ("stream", "a" * 1025, "of at most 1,024 characters; this one has 1,025"),
        ("import", "file.csv", "Select a valid choice"),
        ("account", "<script>alert(1)</script>", "&lt;script&gt;"),
    ],
)
def test_what_is_wrong_is_said_and_kept_in_the_form(staff, kind, typed, why):
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
def test_a_knob_out_of_bounds_is_refused_and_shown(staff, name, typed, why):
    page = staff.post("/sources/", {"kind": "account", "of": "nasa", name: typed})

    html = page.content.decode()
    assert why in html
    assert '<details class="more" open>' in html
    assert not Source.objects.exists()


def test_knobs_are_taken_as_people_write_them(staff):
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


def test_what_a_stream_leaves_out_belongs_into_its_rule(staff):
    page = staff.post("/sources/", {"kind": "stream", "of": "a", "exclude_replies": "on"})

    assert "Add -is:reply to the rule" in page.content.decode()
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("there", "kind", "typed"),
    [
        ({"of": "nasa"}, "account", "@NASA"),
        ({"of": "old", "username": "nasa"}, "account", "nasa"),
        ({"kind": "search", "of": "a b"}, "search", "a  b"),
        ({"kind": "list", "of": "12"}, "list", "https://x.com/i/lists/12"),
    ],
)
def test_what_is_there_already_is_not_read_twice(staff, there, kind, typed):
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


def test_the_form_says_what_it_may_cost(staff):
    assert "288 polls a day (one every 5 minutes)" in staff.get("/sources/").content.decode()

    given = {"kind": "search", "of": "", "every": "30s", "pages": "2"}
    told = staff.get("/sources/cost/", given).content.decode()
    assert "2,880 polls a day (one every 30 seconds)" in told
    assert "200 at most" in told
    assert "one every 5 minutes" in staff.get("/sources/cost/", {"every": "never"}).content.decode()
    assert "is not polled" in staff.get("/sources/cost/", {"kind": "stream"}).content.decode()
