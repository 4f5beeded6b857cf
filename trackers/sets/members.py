"""Which tweets a set has: the newest of a time, each way by an index or in bounded steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.periods import TimeSpan
from trackers.tweets.finding.named import NAMED_IN
from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import cursor
from tweetwatch.time_limits import limit_time, only_bitmaps

# Of a name that more texts have, the newest texts are read instead, so many at a time, and so many
# at the most; of a language always.
MAX_RARE, STEP, MOST_LOOKED = 10_000, 10_000, 50_000
# It takes some milliseconds; this is for statistics that are wrong.
_TIMEOUT = timedelta(seconds=1)

_WITHIN = "{id} >= %(low)s AND {id} < %(high)s ORDER BY {id} DESC LIMIT %(most)s"
_BY_TWEET, _BY_TWEET_ID = _WITHIN.format(id="id"), _WITHIN.format(id="tweet_id")
BY_INDEX = {
    SetKind.ALL: f"SELECT id FROM trackers_tweet WHERE {_BY_TWEET}",
    SetKind.AUTHOR: (
        f"SELECT id FROM trackers_tweet WHERE author_id = %(key)s::bigint AND {_BY_TWEET}"
    ),
    SetKind.SOURCE: (
        "SELECT tweet_id FROM trackers_sourcetweet"
        f" WHERE source_id = %(key)s::bigint AND {_BY_TWEET_ID}"
    ),
    SetKind.TAG: (
        f"SELECT tweet_id FROM trackers_tweettag WHERE tag_id = %(key)s::bigint AND {_BY_TWEET_ID}"
    ),
}
# All that have the name, in no order, up to a limit; then those of the time.
RARE = """
    WITH named AS MATERIALIZED (
        SELECT tweet_id FROM trackers_tweettext WHERE {column} @> ARRAY[%(key)s] LIMIT %(rare)s
    )
    SELECT (SELECT count(*) FROM named), ARRAY(
        SELECT tweet_id FROM named WHERE tweet_id >= %(low)s AND tweet_id < %(high)s
        ORDER BY tweet_id DESC LIMIT %(most)s)
"""
# The inner LIMIT is a fence: no more texts are read, whatever the planner assumes.
NEXT = """
    SELECT count(*), min(tweet_id), array_agg(tweet_id ORDER BY tweet_id DESC) FILTER (WHERE has)
    FROM (
        SELECT tweet_id, coalesce({condition}, false) AS has FROM trackers_tweettext
        WHERE tweet_id >= %(low)s AND tweet_id < %(high)s ORDER BY tweet_id DESC LIMIT %(step)s
    ) looked
"""


@dataclass(frozen=True, slots=True)
class Members:
    """Tweets of a set, the newest first."""

    ids: Sequence[int]
    # All that the set has from this id on are among them.
    complete_from: int

    def within(self, span: TimeSpan) -> list[int]:
        low, high = _id_range(span)
        return [id for id in self.ids if low <= id < high]

    def has_all_of(self, span: TimeSpan) -> bool:
        return self.complete_from <= _id_range(span)[0]


def _id_range(span: TimeSpan) -> tuple[int, int]:
    """The lowest id of the time, and the first above."""
    return _first_id(span.since), _first_id(span.until)


def newest_members(
    of: TweetSet, span: TimeSpan, *, most: int, matches: Members | None = None
) -> Members:
    """At most so many that were posted in this time. `matches`: of a saved view its newest ones,
    which are found by what lists tweets (`trackers.listing`)."""
    low, high = _id_range(span)
    params = {"key": of.key, "low": low, "high": high, "most": most}
    if of.kind == SetKind.VIEW:
        return _of_view(matches, low, high, most)
    if of.kind in BY_INDEX:
        with cursor() as db:
            ids = [id for (id,) in db.execute(BY_INDEX[of.kind], params)]
        return _members(ids, low, most)
    if of.kind == SetKind.LANGUAGE:
        return _among_next("lang = %(key)s", params)
    column = NAMED_IN[of.kind]
    rare = RARE.format(column=column)
    with limit_time(_TIMEOUT), only_bitmaps(), cursor() as db:
        row = db.execute(rare, {**params, "rare": MAX_RARE + 1}).fetchone()
    assert row is not None
    number, ids = row
    if number > MAX_RARE:
        return _among_next(f"{column} @> ARRAY[%(key)s]", params)
    return _members(ids, low, most)


def _of_view(matches: Members | None, low: int, high: int, most: int) -> Members:
    if matches is None:
        return Members((), complete_from=high)
    ids = [id for id in sorted(matches.ids, reverse=True) if low <= id < high][:most]
    return Members(ids, max(_members(ids, low, most).complete_from, matches.complete_from))


def _members(ids: list[int], low: int, most: int) -> Members:
    return Members(ids, complete_from=ids[-1] if len(ids) >= most else low)


def _among_next(condition: str, params: dict[str, Any]) -> Members:
    """Of the newest texts of the time; as many as have been looked at."""
    low, high, most = params["low"], params["high"], params["most"]
    query, looked = NEXT.format(condition=condition), 0
    ids: list[int] = []
    while True:
        with cursor() as db:
            row = db.execute(query, {**params, "high": high, "step": STEP}).fetchone()
        assert row is not None
        number, lowest, found = row
        ids += found or []
        looked += number
        if number < STEP or len(ids) >= most:
            return _members(ids[:most], low, most)
        if looked >= MOST_LOOKED:
            return Members(ids, complete_from=lowest)
        high = lowest


def _first_id(at: datetime) -> int:
    return first_id_at(int(at.timestamp() * 1000))
