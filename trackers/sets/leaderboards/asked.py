"""What a page or a program asks for: one of the hourly lists, or what is counted at once. What has
more posts than that is counted by a worker (`large`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from trackers.rollups.models import RollupKind
from trackers.rollups.recount import quarter_at
from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.leaderboards.count import ComparedSpans, SetRow, count_sets
from trackers.sets.leaderboards.models import Leaderboard
from trackers.sets.leaderboards.update import LIST_HOURS, spans_of_hours
from trackers.sets.leaderboards.within import count_within
from trackers.sets.members import Members, newest_members
from trackers.sets.period_figures import SET_AGES, default_age
from trackers.sets.periods import Period, TimeSpan
from trackers.tweets.snowflake import born_at
from tweetwatch.pieces import select_count

# Within which sets others are listed.
WITHIN_KINDS = (SetKind.SOURCE, SetKind.TAG, SetKind.VIEW)
# So many posts of both periods are counted at once. While all tweets have as few as _FEW_POSTS, so
# is what else would be a list of the hour: it takes some 30 ms, and is of now.
MAX_POSTS, _FEW_POSTS = 20_000, 5_000
_POSTS = """
    SELECT coalesce(sum(posts), 0) FROM trackers_rollup
    WHERE kind = %(kind)s AND key = 'all' AND quarter >= %(since)s AND quarter < %(until)s
"""


@dataclass(frozen=True, slots=True)
class AskedBoard:
    kind: RollupKind  # of LISTED_KINDS
    period: str | Period  # one of LIST_HOURS, or days
    within: TweetSet | None = None  # of WITHIN_KINDS
    age: str = ""  # of SET_AGES, for days; empty: the one that days have

    def spans(self, *, now: datetime) -> ComparedSpans:
        if isinstance(self.period, str):
            return spans_of_hours(self.period, now)
        age = self.age or default_age(self.period.name)
        old, _ = self.period.old_enough(SET_AGES[age])
        return ComparedSpans(self.period.this, self.period.before, old, age)


@dataclass(frozen=True, slots=True)
class Listing:
    """The sets of one kind in a period that are highest by any figure."""

    rows: list[SetRow]
    spans: ComparedSpans
    is_made_hourly: bool = False
    # Of a saved view: these are all that match from here on; None: all were counted.
    newest_since: datetime | None = None
    as_of: datetime | None = None  # of one that a worker counted; None: of now, or of the hour


@dataclass(frozen=True, slots=True)
class TooManyPosts(Exception):
    """To be counted at once."""

    posts: int  # or more


def read_leaderboard(
    asked: AskedBoard, *, now: datetime, matches: Members | None = None
) -> Listing | None:
    """None: this list of the hour is not made yet. `matches`: those of a saved view. Raises
    TooManyPosts."""
    spans = asked.spans(now=now)
    if asked.within is not None:
        return _read_within(asked.kind, asked.within, spans, matches)
    posts = posts_in(spans.before.since, spans.this.until)
    if isinstance(asked.period, str) and posts > _FEW_POSTS:
        board = Leaderboard.objects.filter(kind=asked.kind, hours=LIST_HOURS[asked.period]).first()
        if board is None:
            return None
        rows = [SetRow(**row) for row in board.rows]
        return Listing(rows, spans_of_hours(asked.period, board.until), is_made_hourly=True)
    if posts > MAX_POSTS:
        raise TooManyPosts(posts)
    with transaction.atomic():
        return Listing(count_sets(asked.kind, spans), spans)


def _read_within(
    kind: RollupKind, within: TweetSet, spans: ComparedSpans, matches: Members | None
) -> Listing:
    both = TimeSpan(spans.before.since, spans.this.until)
    members = newest_members(within, both, most=MAX_POSTS + 1, matches=matches)
    if len(members.ids) > MAX_POSTS:
        raise TooManyPosts(MAX_POSTS + 1)
    since = None if members.has_all_of(both) else born_at(members.complete_from)
    return Listing(count_within(kind, members.ids, spans), spans, newest_since=since)


def posts_in(since: datetime, until: datetime) -> int:
    params = {
        "kind": int(RollupKind.ALL), "since": quarter_at(since), "until": quarter_at(until) + 1
    }  # fmt: skip
    return select_count(_POSTS, params)
