"""The only place where samples are written, whoever paid for the measurement.

measured (metrics as X gave them) ─> the tweet's newest sample ─ when it changes ─> a closed one
                                  │                            └─ and somebody subscribes ─> events
                                  └─ the first one of a higher age ─> a checkpoint
Unchanged metrics only extend the newest sample. After a hole, more than twice the interval without
a measurement, the same metrics begin a new sample: no run hides a hole.
What was billed without a measurement is marked as paid here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from trackers.happenings.write import HAPPENED
from trackers.milestones.crossings import ARE_KEPT, PASSED
from trackers.outbox.staging import (
    SELECT_MILESTONES_TOPIC,
    SELECT_TWEETS_TOPIC,
    STAGED_WITH_UPDATES,
    TOPIC,
    later,
)
from trackers.tweets.checkpoints.write import CHECKPOINTS, crosses
from trackers.tweets.gains.models import may_be_listed
from trackers.tweets.presence import counting_presences
from trackers.tweets.uncounted import noting_uncounted
from trackers.xapi.results import Figures
from tweetwatch.database import Cursor, array, cursor
from tweetwatch.statements import fill, statement


@dataclass(frozen=True, slots=True)
class Measured:
    """Metrics of one tweet at one time."""

    tweet_id: int
    at: datetime
    figures: Figures
    # If the last measurement is longer ago, a new run begins; None: it always does.
    hole_after: timedelta | None


class Change(NamedTuple):
    """A tweet whose metrics differ from the last ones."""

    tweet_id: int
    at: datetime
    before: Figures | None  # None at its first sample
    after: Figures


_NEW_PACE = statement(__file__, "_new_pace")
_COUNTED_AND_PAID = """
    retweets = m.rt, replies = m.re, likes = m.li,
    quotes = m.qu, bookmarks = m.bo, views = m.vi,
    paid_on = coalesce(m.paid_on, t.paid_on), paid_by = coalesce(m.paid_by, t.paid_by)
"""
_SHOWN = """
    missing_since = NULL, missing_reason = '', gone_at = NULL,
    unreadable_since = NULL, unreadable_reason = ''
"""
# Of a file: what X has said since stays. What was billed is of now, whatever a clock that was ahead
# has made of that.
_IS_EARLIER = """
    (m.paid_on IS NULL
     AND m.at < greatest({of}.missing_since, {of}.gone_at, {of}.unreadable_since)) IS TRUE
"""
_SHOWN_UNLESS_EARLIER = """
    missing_since = CASE WHEN {is_earlier} THEN t.missing_since END,
    missing_reason = CASE WHEN {is_earlier} THEN t.missing_reason ELSE '' END,
    gone_at = CASE WHEN {is_earlier} THEN t.gone_at END,
    unreadable_since = CASE WHEN {is_earlier} THEN t.unreadable_since END,
    unreadable_reason = CASE WHEN {is_earlier} THEN t.unreadable_reason ELSE '' END
"""
# The metrics are compared first: mostly they differ, and then the hole need not be computed.
_GOES_ON = """
    t.measurements > 0
    AND (t.retweets, t.replies, t.likes, t.quotes, t.bookmarks, t.views)
        IS NOT DISTINCT FROM (m.rt, m.re, m.li, m.qu, m.bo, m.vi)
    AND m.at BETWEEN t.measured_until AND t.measured_until + {hole}
"""
# The end of a run that was measured while the database's clock was ahead. It is not newer than what
# is measured now, which begins another run. A minute: `at` is a worker's, by that clock.
_IN_FUTURE = "{of}.measured_until > now() + interval '1 minute'"
_MEASURED = ("m.rt", "m.re", "m.li", "m.qu", "m.bo", "m.vi")
# Chains of CTEs that follow one called `measured`: tweet_id, at, hole_after, paid_by and paid_on
# (who paid for the measurement and on which UTC day, null if it was free), and the six metrics
# (rt, re, li, qu, bo, vi). The caller's `measured` decides which rows may be written; {hole} is an
# expression over a tweet `t` and a measurement `m`, for the interval after which a run ends.
# They provide `recorded`, with the metrics before, then `closed`, and the events.
# Locks: the tweets' rows, in the order of ids, in which `measured` comes; after the job's row if
# there is one. A row is read after it is locked, so that two measurers of one tweet (the updater
# and a poll) close each run once.
_PARTS = {
    "pace": _NEW_PACE,
    "counted_and_paid": _COUNTED_AND_PAID,
    "in_future": _IN_FUTURE.format(of="t"),
}
_LOCKING = statement(
    __file__,
    "_locking",
    open=["hole", "shown", "earlier"],
    to_rank=may_be_listed("t", at="m.at", values=_MEASURED),
    crosses=crosses("t"),
    **_PARTS,
)
_RETURNING = statement(
    __file__,
    "_returning",
    open=["shown", "earlier"],
    goes_on=_GOES_ON,
    was_in_future=_IN_FUTURE.format(of="old"),
    to_rank=may_be_listed("old", at="m.at", values=_MEASURED),
    crosses=crosses("old"),
    **_PARTS,
)
_CLOSED = statement(
    __file__,
    "_closed",
    checkpoints=CHECKPOINTS,
    # Mostly X showed them before, and then this reads nothing further.
    counted=counting_presences("""
        SELECT id, trackers_presence_v1(missing_reason, paid_before) AS before,
               trackers_presence_v1('', coalesce(paid_on, paid_before)) AS after
        FROM recorded
        WHERE (missing_reason <> '' OR paid_before IS NULL) AND NOT belated {unless_earlier}
    """),
    uncounted=noting_uncounted(
        "SELECT id FROM recorded WHERE gone_at IS NOT NULL AND NOT belated {unless_earlier}"
    ),
)
_RECORD_EVENTS = statement(
    __file__,
    "_events",
    open=["more", "unless_gone", "happened_more"],
    topic=TOPIC,
    tweets=SELECT_TWEETS_TOPIC,
    milestones=SELECT_MILESTONES_TOPIC,
    are_kept=ARE_KEPT,
    passed=PASSED,
    happened=HAPPENED,
    staged=STAGED_WITH_UPDATES,
    t=later("at", "greatest(measured_until, gone_at, tracked_at)"),
)
_OF_NOW = {"shown": _SHOWN, "earlier": "", "unless_earlier": "", "unless_gone": ""}


def _of_any_time(while_written: str, afterwards: str) -> dict[str, str]:
    """The same parts for metrics that may be from before what X last said: whether they are."""
    return {
        "shown": fill(_SHOWN_UNLESS_EARLIER, {"is_earlier": while_written}),
        "earlier": f", {afterwards} AS is_earlier",
        "unless_earlier": "AND NOT is_earlier",
        "unless_gone": "AND NOT (is_earlier AND gone_at IS NOT NULL)",
    }


# Locks: the tweets' rows, in the order of ids, as everywhere.
_LOCK_TWEETS = """
    SELECT FROM trackers_tweet WHERE id = ANY(ARRAY(
        SELECT id FROM unnest(%(ids)s::bigint[]) AS asked(id) ORDER BY id))
    ORDER BY id FOR NO KEY UPDATE
"""
# The planner expects few rows of an array, and would scan the samples for each of many.
_ASKED_AT_ONCE = 500
_UNMEASURED = statement(__file__, "unmeasured")


class Recording(NamedTuple):
    """A statement that records measurements, by the version of PostgreSQL."""

    locking: str  # up to 17
    returning: str  # from 18

    def on(self, db: Cursor) -> str:
        """The statement for this cursor's server."""
        return self.returning if db.connection.info.server_version >= 180000 else self.locking


def recording(
    module: str,
    name: str,
    *,
    hole: str,
    more: str = "",
    happened: str = "",
    is_of_now: bool,
    **parts: object,
) -> Recording:
    """The statement in that file, with {record} replaced by each of the chains above. `is_of_now`:
    X has just shown the tweets, so that nothing need be compared with what it said before."""
    earlier, was_earlier = (_IS_EARLIER.format(of=row) for row in ("t", "old"))
    chains = (
        (_LOCKING, _OF_NOW if is_of_now else _of_any_time("m.is_earlier", earlier)),
        (_RETURNING, _OF_NOW if is_of_now else _of_any_time(earlier, was_earlier)),
    )
    filled = (
        fill(
            f"{chain}, {_CLOSED}, {_RECORD_EVENTS}",
            {"hole": hole, "more": more, "happened_more": happened, **time},
        )
        for chain, time in chains
    )
    return Recording(*(statement(module, name, open=(), record=chain, **parts) for chain in filled))


RECORD_MEASURED = recording(__file__, "record", hole="m.hole_after", is_of_now=False)


def record(
    measured: Sequence[Measured], *, paid_on: date | None = None, paid_by: int | None = None
) -> list[Change]:
    """Write measurements of tracked tweets, at most one of each; return what they changed.

    `paid_by` is the project that X billed for them on the UTC day `paid_on`, if any.
    """
    ordered = sorted(measured, key=lambda measurement: measurement.tweet_id)
    with cursor() as db:
        db.execute(
            RECORD_MEASURED.on(db),
            {**_measured_columns(ordered), "paid_on": paid_on, "paid_by": paid_by},
        )
        return [_change_of(row[0], row[1], row[2], row[3:]) for row in db]


def unmeasured_at(times: Iterable[tuple[int, datetime]]) -> list[tuple[int, datetime]]:
    """Those of the tweets and times that no sample covers. The tweets are locked, in the order of
    their ids, so that a second caller finds what the first has written."""
    pairs = sorted(times)
    with cursor() as db:
        db.execute(_LOCK_TWEETS, {"ids": array(sorted({id for id, _ in pairs}))})
        # Only now: a statement sees what was committed when it began.
        free: list[tuple[int, datetime]] = []
        for start in range(0, len(pairs), _ASKED_AT_ONCE):
            some = pairs[start : start + _ASKED_AT_ONCE]
            params = {"ids": array(id for id, _ in some), "at": [at for _, at in some]}
            free += db.execute(_UNMEASURED, params).fetchall()
    return free


def _measured_columns(measured: Sequence[Measured]) -> dict[str, Any]:
    """The arrays that the SQL unnests, parallel to `measured`."""
    retweets, replies, likes, quotes, bookmarks, views = (
        zip(*(measurement.figures for measurement in measured), strict=True)
        if measured
        else [()] * 6
    )
    return {
        "ids": array(measurement.tweet_id for measurement in measured),
        "at": [measurement.at for measurement in measured],
        "hole_after": [measurement.hole_after for measurement in measured],
        "retweets": array(retweets),
        "replies": array(replies),
        "likes": array(likes),
        "quotes": array(quotes),
        "bookmarks": array(bookmarks),
        "views": array(views),
    }


def _change_of(id: int, at: datetime, measured_before: bool, counts: Sequence[Any]) -> Change:
    """`counts`: the six metrics before, and the six after."""
    before = Figures._make(counts[:6]) if measured_before else None
    return Change(id, at, before, Figures._make(counts[6:]))


# Locks: the tweets' rows, in the order of ids, as everywhere.
_PRESENCES_OF_PAID = counting_presences("""
    SELECT id, trackers_presence_v1(missing_reason, paid_on) AS before,
           trackers_presence_v1(missing_reason, %(day)s) AS after FROM held
""")
_MARK_PAID = f"""
    WITH held AS MATERIALIZED (
        SELECT id, missing_reason, paid_on FROM trackers_tweet
        WHERE id = ANY(%(ids)s::bigint[])
          AND (paid_on, paid_by) IS DISTINCT FROM (%(day)s::date, %(project)s::int)
        ORDER BY id FOR UPDATE
    ),
    counted AS ({_PRESENCES_OF_PAID})
    UPDATE trackers_tweet SET paid_on = %(day)s, paid_by = %(project)s
    WHERE id = ANY(ARRAY(SELECT id FROM held))
"""


def mark_paid(ids: Iterable[int], *, day: date, project: int) -> int:
    """Mark the tweets as paid: they cost the project nothing more on that day. How many of them
    were not."""
    with cursor() as db:
        params = {"ids": array(ids), "day": day, "project": project}
        return db.execute(_MARK_PAID, params).rowcount
