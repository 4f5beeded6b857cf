"""Leaderboards: each figure beside that of the period before, in every order, as page and file."""

import csv
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone
from django.utils.html import escape

from tests.factories import id_born
from tests.pages.sources import words
from tests.rollups.posted import measured_at, tracked, yielded
from trackers import tasks
from trackers.ingest.sources.models import Source
from trackers.rollups.models import Rollup, RollupKind
from trackers.rollups.update import update_rollups
from trackers.saved_views.models import SavedView
from trackers.scores.update import update_scores
from trackers.sets.leaderboards.models import LargeLeaderboard, Leaderboard
from trackers.sets.leaderboards.update import update_leaderboards
from trackers.tweets.models import Author
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def make():
    now = timezone.now()
    update_scores(now=now, deadline=Deadline.after(60))
    update_rollups(now=now, deadline=Deadline.after(60))
    update_leaderboards(now=now, deadline=Deadline.after(60))


def posted(author, age, views):
    id = id_born(timezone.now() - age, author)
    tracked(id, author=author, hashtags=["moon"])
    measured_at(id, DAY, views=views, likes=views // 20)
    return id


@pytest.fixture
def two_authors():
    """@vera has six posts of this week and two of the week before, @ada one that is larger."""
    for number in range(6):
        posted(7, 3 * DAY + number * HOUR, 1000 * (number + 1))
    for number in range(2):
        posted(7, 10 * DAY + number * HOUR, 7000)
    posted(8, 3 * DAY, 50_000)
    Author.objects.filter(pk=7).update(username="vera")
    Author.objects.filter(pk=8).update(username="ada")
    make()


def said(staff, query=""):
    answer = staff.get(f"/leaderboards/{query}")
    assert answer.status_code == 200
    return words(answer.content.decode())


def test_authors_of_the_last_week_come_in_the_order_of_their_views(staff, two_authors):
    text = said(staff)

    assert "1 @ada 1 50K – – – –" in text
    assert "2 @vera 6 21K +50 % 3" in text
    assert "5.0 % –" in text
    assert "each at the age of 24 h" in text
    assert "made each hour" not in text
    page = staff.get("/leaderboards/").content.decode()
    assert 'href="/sets/author/7/"' in page
    assert 'aria-sort="descending"' in page


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("?by=posts", "1 @vera"), ("?by=median", "1 @vera"), ("?by=rate", "1 @vera"),
        ("?by=change", "1 @vera"), ("?metric=likes", "1 @ada"), ("?of=hashtag", "1 #moon"),
        ("?of=language", "1 language en 7"), ("?period=30d", "1 @ada"),
        ("?of=everybody&by=fame", "1 @ada"),
    ],
)  # fmt: skip
def test_each_order_and_kind_may_be_chosen(staff, two_authors, query, first):
    assert first in said(staff, query)


def test_days_are_counted_at_once(staff, two_authors):
    today = timezone.now().date()
    week = f"from={today - 6 * DAY}&until={today}"

    assert "1 @ada 1 50K" in said(staff, f"?{week}")
    Rollup.objects.filter(kind=RollupKind.ALL).update(posts=9_000)
    assert "up to 20,000 are counted at once. A worker can count" in said(staff, f"?{week}")
    assert staff.get(f"/leaderboards/leaderboard.csv?{week}").status_code == 400
    assert "A period takes its first and its last day." in said(staff, "?from=2026-01-01")
    assert "The period ends before it begins." in said(staff, "?from=2026-01-02&until=2026-01-01")


def test_the_file_has_what_is_listed(staff, two_authors):
    answer = staff.get("/leaderboards/leaderboard.csv?by=posts")

    rows = list(csv.DictReader(StringIO(b"".join(answer.streaming_content).decode())))
    assert [(row["place"], row["name"], row["views"], row["views_before"]) for row in rows] == [
        ("1", "'@vera", "21000", "14000"), ("2", "'@ada", "50000", "")
    ]  # fmt: skip
    assert staff.get("/leaderboards/leaderboard.pdf").status_code == 404


def test_of_many_posts_it_says_when_there_will_be_lists(staff, two_authors):
    Leaderboard.objects.filter(hours=24 * 30).delete()
    Rollup.objects.filter(kind=RollupKind.ALL).update(posts=9_000)

    assert "As of" in said(staff)
    assert "made each hour" in said(staff)
    assert "Not made yet" in said(staff, "?period=30d")


def test_without_posts_it_says_what_to_do(staff):
    assert "Nothing to list in this period" in said(staff)


def test_a_source_that_is_removed_has_no_row(staff, two_authors):
    source = Source.objects.create(kind="account", of="nasa")
    tracked(id_born(timezone.now() - 2 * DAY), source=source.pk)
    make_again()
    assert "@nasa" in said(staff, "?of=source")
    source.delete()

    assert "@nasa" not in said(staff, "?of=source")


def make_again():
    now = timezone.now() + HOUR
    update_rollups(now=now, deadline=Deadline.after(60))
    update_leaderboards(now=now, deadline=Deadline.after(60))


def test_sets_within_a_source_a_tag_or_a_view_are_chosen_by_name(staff, two_authors):
    source = Source.objects.create(kind="account", of="nasa")
    id = posted(7, 4 * DAY, 3000)
    yielded(source.pk, id)
    tag_tweets(get_or_create_tag("launch").pk, [id])
    me = User.objects.get(username="ada")
    view = SavedView.objects.create(user=me, name="Vera's", query="author=vera")

    page = staff.get("/leaderboards/").content.decode()

    for address, name in (
        (f"source/{source.pk}", str(source)), ("tag/launch", "launch"),
        (f"view/{view.pk}", "Vera's"),
    ):  # fmt: skip
        assert f'<option value="{address}">{escape(name)}</option>' in page
        text = said(staff, f"?within={address}")
        assert "within" in text
        assert "@ada" not in text
    assert "1 @vera 1 3K" in said(staff, "?within=tag/launch")
    assert "1 @vera 7 24K" in said(staff, f"?within=view/{view.pk}")
    assert (
        'value="tag/launch" selected'
        in staff.get("/leaderboards/?within=tag/launch").content.decode()
    )
    assert "There is no such set; these are of all tweets." in said(staff, "?within=tag/nothing")
    assert "look at all tweets" in said(staff, "?within=tag/launch&period=24h")


def test_many_posts_are_counted_by_a_worker_on_request(staff, two_authors):
    today = timezone.now().date()
    query = f"?from={today - 6 * DAY}&until={today}"
    Rollup.objects.filter(kind=RollupKind.ALL).update(posts=9_000)

    answer = staff.post(f"/leaderboards/count{query}", follow=True)

    assert "A worker counts this list." in words(answer.content.decode())
    assert 'hx-trigger="tick from:body"' in answer.content.decode()
    [row] = LargeLeaderboard.objects.all()
    tasks.count_large_leaderboard(row.pk)
    assert "1 @ada 1 50K" in said(staff, query)
    assert "it is kept for an hour" in said(staff, query)
    assert "hx-get" not in staff.get(f"/leaderboards/{query}&part=board").content.decode()
    assert staff.get(f"/leaderboards/leaderboard.csv{query}").status_code == 200


def test_a_person_without_sources_lists_nothing_within_one(client, two_authors):
    source = Source.objects.create(kind="account", of="nasa")
    reader = User.objects.create_user("ben")
    reader.user_permissions.add(Permission.objects.get(codename="view_tweet"))
    client.force_login(reader)

    page = client.get(f"/leaderboards/?within=source/{source.pk}").content.decode()

    assert "There is no such set" in page
    assert "@nasa" not in page
