"""Leaderboards say what the posts of each set have, beside the period before."""

from dataclasses import asdict
from datetime import UTC, date, timedelta
from statistics import median

import pytest

from tests.rollups.posted import DAY, HOUR, MINUTE, NOW, id_of, measured_at, tracked, update
from trackers.ingest.sources.models import Source
from trackers.rollups.models import Rollup, RollupKind
from trackers.rollups.recount import quarter_at
from trackers.sets.leaderboards import asked as boards
from trackers.sets.leaderboards.asked import AskedBoard, TooManyPosts, read_leaderboard
from trackers.sets.leaderboards.models import Leaderboard
from trackers.sets.leaderboards.rank import ranked
from trackers.sets.leaderboards.update import LIST_HOURS, LISTED_KINDS, update_leaderboards
from trackers.sets.periods import custom_period
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db
VIEWS = {7: [100, 300, 500, 700, 900, 1100], 8: [5000, 6000]}


def posted_by(author, counts, *, since, **more):
    """Posts of an author, an hour apart, with these views a day after."""
    for number, views in enumerate(counts):
        id = id_of(since - number * HOUR, author)
        tracked(id, author=author, **more)
        measured_at(id, DAY, views=views, likes=views // 10)


@pytest.fixture(autouse=True)
def from_lists(monkeypatch):
    """However few posts there are."""
    monkeypatch.setattr(boards, "_FEW_POSTS", -1)


def listed(kind, name):
    listing = read_leaderboard(AskedBoard(kind, name), now=NOW + 30 * MINUTE)
    assert listing.is_made_hourly
    return listing


def make():
    update()
    update_leaderboards(now=NOW + 20 * MINUTE, deadline=Deadline.after(60))


def test_authors_of_a_week_beside_the_week_before():
    for author, counts in VIEWS.items():
        posted_by(author, counts, since=6 * DAY)
    posted_by(7, [1200, 1200], since=12 * DAY)
    tracked(id_of(HOUR), author=8)
    make()

    listing = listed(RollupKind.AUTHOR, "7d")
    seven, eight = sorted(listing.rows, key=lambda row: row.key)

    assert listing.spans.this.until == NOW
    assert (seven.posts, seven.posts_before, seven.old, seven.measured) == (6, 2, 6, 6)
    assert seven.totals["views"] == sum(VIEWS[7])
    assert seven.before["views"] == 2400
    assert seven.medians["views"] == pytest.approx(median(VIEWS[7]), rel=0.19)
    assert seven.rate == pytest.approx(0.1)
    assert sum(seven.steps["views"]) == sum(VIEWS[7]) + 2400
    assert (eight.posts, eight.old) == (3, 2)
    # Of two posts nothing is said.
    assert (eight.medians["views"], eight.rate, eight.before["views"]) == (None, None, None)

    def order(by):
        return [row.key for row in ranked(listing.rows, by=by, metric="views", most=9)]

    assert order("total") == order("change")[::-1] == order("posts")[::-1] == ["8", "7"]
    assert order("median") == order("rate") == order("above") == ["7", "8"]


def test_each_kind_has_its_lists_and_they_are_made_once_an_hour():
    source = Source.objects.create(kind="account", of="nasa")
    tracked(id_of(2 * DAY), source=source.pk, hashtags=["moon"], domains=["nasa.gov"])
    make()

    assert Leaderboard.objects.count() == len(LISTED_KINDS) * len(LIST_HOURS)
    keys = {kind: [row.key for row in listed(kind, "30d").rows] for kind in LISTED_KINDS}
    assert keys == {
        RollupKind.AUTHOR: ["7"], RollupKind.SOURCE: [str(source.pk)], RollupKind.TAG: [],
        RollupKind.LANGUAGE: ["en"], RollupKind.HASHTAG: ["moon"], RollupKind.DOMAIN: ["nasa.gov"],
    }  # fmt: skip
    assert listed(RollupKind.AUTHOR, "24h").rows == []
    assert not update_leaderboards(now=NOW + 50 * MINUTE, deadline=Deadline.after(60)).rows
    assert update_leaderboards(now=NOW + HOUR, deadline=Deadline.after(60)).rows == 18


def test_chosen_days_are_counted_at_once_unless_they_have_many_posts():
    for author, counts in VIEWS.items():
        posted_by(author, counts, since=5 * DAY)
    make()
    week = custom_period(date(2026, 2, 26), date(2026, 3, 5), UTC, now=NOW)

    chosen = read_leaderboard(AskedBoard(RollupKind.AUTHOR, week), now=NOW)

    lists = {row.key: asdict(row) for row in listed(RollupKind.AUTHOR, "7d").rows}
    for row in chosen.rows:
        assert asdict(row) | {"steps": None} == lists[row.key] | {"steps": None}
    Rollup.objects.filter(kind=RollupKind.ALL).update(posts=20_000)
    with pytest.raises(TooManyPosts) as caught:
        read_leaderboard(AskedBoard(RollupKind.AUTHOR, week), now=NOW)
    assert caught.value.posts > 20_000


def test_there_is_no_list_until_it_is_made():
    Rollup.objects.create(
        kind=RollupKind.ALL, key="all", quarter=quarter_at(NOW - DAY), posts=9_000,
        measured_1h=0, measured_24h=0, measured_7d=0,
    )  # fmt: skip
    assert read_leaderboard(AskedBoard(RollupKind.TAG, "7d"), now=NOW) is None
    assert timedelta(hours=LIST_HOURS["30d"]) == 30 * DAY


def test_few_posts_are_counted_when_they_are_asked_for(monkeypatch):
    monkeypatch.undo()
    posted_by(7, VIEWS[7], since=6 * DAY)
    tracked(id_of(MINUTE), author=7)
    update()

    listing = read_leaderboard(AskedBoard(RollupKind.AUTHOR, "7d"), now=NOW)

    assert not listing.is_made_hourly
    [seven] = listing.rows
    assert (seven.posts, seven.old, seven.totals["views"]) == (7, 6, sum(VIEWS[7]))
