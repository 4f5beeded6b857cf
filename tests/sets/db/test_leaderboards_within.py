"""Leaderboards within a source, a tag or a view: counted from its posts alone, as those of all
tweets are from rollups; and by a worker where there are many."""

from dataclasses import replace

import pytest

from tests.rollups.posted import DAY, HOUR, MINUTE, NOW, id_of, measured_at, tracked, update
from trackers import tasks
from trackers.ingest.sources.models import Source
from trackers.rollups.models import RollupKind
from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.leaderboards import asked as boards
from trackers.sets.leaderboards import large
from trackers.sets.leaderboards.asked import AskedBoard, TooManyPosts, read_leaderboard
from trackers.sets.leaderboards.models import LargeLeaderboard
from trackers.sets.leaderboards.rank import ranked
from trackers.sets.leaderboards.update import LISTED_KINDS
from trackers.sets.members import Members
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets

pytestmark = pytest.mark.django_db


@pytest.fixture
def nasa():
    """Six posts of @7 and three of @8 by this source, and one of @8 by another."""
    ours, other = (Source.objects.create(kind="account", of=name) for name in ("nasa", "esa"))
    for author, posts in ((7, 6), (8, 3)):
        for number in range(posts):
            posted(author, 2 * DAY + number * HOUR, 100 * (number + 1), source=ours.pk)
    posted(7, 9 * DAY, 70, source=ours.pk)
    posted(8, 2 * DAY + MINUTE, 90_000, source=other.pk, hashtags=["mars"])
    update()
    return TweetSet(SetKind.SOURCE, str(ours.pk), "@nasa")


def posted(author, age, views, **described):
    id = id_of(age, author)
    tracked(id, author=author, **{"hashtags": ["moon"], "domains": ["nasa.gov"], **described})
    measured_at(id, DAY, views=views, likes=views // 10)
    return id


def within(of, kind=RollupKind.AUTHOR, *, by="total", **more):
    listing = read_leaderboard(AskedBoard(kind, "7d", of), now=NOW, **more)
    return ranked(listing.rows, by=by, metric="views", most=9), listing


def test_only_posts_of_the_set_count(nasa):
    [seven, eight], listing = within(nasa)

    assert (seven.key, seven.posts, seven.posts_before, seven.totals["views"]) == ("7", 6, 1, 2100)
    assert (seven.medians["views"], seven.before["views"]) == (350, 70)
    assert (eight.key, eight.posts, eight.totals["views"]) == ("8", 3, 600)
    assert (eight.medians["views"], eight.rate) == (None, None)
    assert sum(seven.steps["views"]) == 2170
    assert listing.newest_since is None


@pytest.mark.parametrize("kind", LISTED_KINDS)
def test_within_all_that_there_is_the_figures_are_those_of_all_tweets(nasa, kind):
    tag_tweets(get_or_create_tag("launch").pk, [id_of(2 * DAY, 7)])
    update(now=NOW + HOUR)
    everything = read_leaderboard(AskedBoard(kind, "7d"), now=NOW)
    ids = [id for author, posts in ((7, 6), (8, 3)) for id in ids_of(author, posts)]
    everywhere = Members([id_of(2 * DAY + MINUTE, 8), *ids, id_of(9 * DAY, 7)], 0)

    rows, _ = within(TweetSet(SetKind.VIEW, "1", "all"), kind, matches=everywhere)

    # Rollups have medians to two digits, and steps by quarters of an hour.
    def exact(row):
        return replace(row, medians={}, steps={})

    expected = ranked(everything.rows, by="total", metric="views", most=9)
    assert [exact(row) for row in rows] == [exact(row) for row in expected]
    assert rows


def ids_of(author, posts):
    return [id_of(2 * DAY + number * HOUR, author) for number in range(posts)]


def test_of_a_view_it_says_since_when_its_matches_are_known(nasa):
    ids = ids_of(7, 2)

    [seven], listing = within(a_view_set(), matches=Members(ids, complete_from=ids[1]))

    assert seven.posts == 2
    assert listing.newest_since == NOW - 2 * DAY - HOUR


def a_view_set():
    return TweetSet(SetKind.VIEW, "1", "a view", query="q=moon")


def test_many_posts_are_counted_by_a_worker_once(nasa, monkeypatch):
    monkeypatch.setattr(boards, "MAX_POSTS", 5)
    asked = AskedBoard(RollupKind.AUTHOR, "7d", nasa)
    with pytest.raises(TooManyPosts):
        read_leaderboard(asked, now=NOW)

    row = large.request_large(asked, now=NOW)
    assert large.request_large(asked, now=NOW + MINUTE) == row
    assert large.listing_of(row) is None
    tasks.count_large_leaderboard(row.pk)

    done = large.find_large(asked, now=NOW + 2 * MINUTE)
    assert (done.posts, done.counted, done.problem) == (10, 10, "")
    listing = large.listing_of(done)
    monkeypatch.undo()
    assert listing.spans == asked.spans(now=NOW)
    assert listing.rows == within(nasa)[1].rows
    # A second hand-out of the task changes nothing.
    assert large.count_large(row.pk) is None
    assert large.find_large(asked, now=NOW + 2 * HOUR) is None
    large.prune_large(now=NOW + 2 * DAY)
    assert not LargeLeaderboard.objects.exists()


def test_a_list_that_a_worker_lost_may_be_asked_for_again(nasa):
    asked = AskedBoard(RollupKind.AUTHOR, "7d", nasa)
    first = large.request_large(asked, now=NOW)

    assert large.find_large(asked, now=NOW + 6 * MINUTE) is None
    again = large.request_large(asked, now=NOW + 6 * MINUTE)

    assert (again.pk, again.asked_at) == (first.pk, NOW + 6 * MINUTE)


def test_only_so_many_wait_for_workers(nasa, monkeypatch):
    monkeypatch.setattr(large, "_MAX_WAITING", 1)
    first = AskedBoard(RollupKind.AUTHOR, "7d", nasa)
    large.request_large(first, now=NOW)

    with pytest.raises(large.TooManyWaiting, match="Try again"):
        large.request_large(replace(first, period="24h"), now=NOW)
    assert large.request_large(first, now=NOW)
    # One that was lost does not count.
    large.request_large(replace(first, period="24h"), now=NOW + 6 * MINUTE)


def test_more_than_a_worker_counts_is_refused_in_words(nasa, monkeypatch):
    monkeypatch.setattr(large, "MAX_COUNTED", 5)
    asked = AskedBoard(RollupKind.AUTHOR, "7d", nasa)

    row = large.count_large(large.request_large(asked, now=NOW).pk)

    assert row.problem.startswith("There are more than 5 posts in these days")
    assert large.listing_of(row) is None


def test_days_of_all_tweets_are_counted_by_a_worker_from_rollups(nasa):
    asked = AskedBoard(RollupKind.HASHTAG, "7d")

    row = large.count_large(large.request_large(asked, now=NOW).pk)

    assert row.posts == 11
    assert {one["key"] for one in row.rows} == {"moon", "mars"}
