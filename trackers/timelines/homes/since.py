"""What came into a home since: the arrivals of what is followed, whatever the strategy.

A tweet that one followed source brought before, and another one brings now, does not count. Nor do
the tweets that a new follow brought along.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from trackers.timelines.homes import moment
from trackers.timelines.homes.page import Page
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_MAX_NEWER = 800
# An arrival whose number was drawn before the page's last number, but committed after it, may be
# this many numbers back: between the two is at most the end of a transaction.
_LOOK_BACK = 50_000


def _new_since(came: str) -> str:
    return statement(__file__, "new_since", came=came, look_back=_LOOK_BACK, most=_MAX_NEWER)


# After a restore on another server, old rows may have transaction ids beyond any snapshot's: these
# are told apart by their numbers.
_SINCE_CLOCK = _new_since(
    "(a.number > %(number)s::bigint"
    " OR a.xid::text::xid8 < pg_snapshot_xmax(%(snapshot)s::text::pg_snapshot))"
    " AND NOT pg_visible_in_snapshot(a.xid::text::xid8, %(snapshot)s::text::pg_snapshot)"
)
# Arrivals of the tweet's own transaction came with it, not after it. The bound on `came_at`, longer
# than any transaction, keeps out rows from before a restore on another server, whose transaction
# ids may be greater, as above.
_SINCE_TWEET = _new_since(
    "a.xid <> %(xid)s::bigint"
    " AND (a.number > %(number)s::bigint OR a.xid >= %(horizon)s::bigint"
    " AND a.came_at > %(came_at)s::timestamptz - interval '10 minutes')"
)

# When the tweet first came into this home, if that arrival is still kept.
_POSITION = """
    SELECT a.number, a.xid, a.horizon, a.came_at
    FROM trackers_arrival a
    JOIN trackers_follow f ON f.follower_id = %(follower)s AND f.origin_id = a.origin_id
    WHERE a.tweet_id = %(tweet)s
    ORDER BY a.number LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Position:
    number: int
    xid: int
    horizon: int
    came_at: datetime


# As in the store: everything came after an unknown tweet.
_THE_BEGINNING = Position(0, 0, 0, datetime(2000, 1, 1, tzinfo=UTC))


def read_since(follower_id: int, tweet_id: int | None, *, clock: str = "") -> Page:
    """What came after a page's clock or, without one, after this tweet did.

    `older` is set when there are more than are returned; the caller then reads the home again.
    """
    if tweet_id is not None and not 0 <= tweet_id <= LARGEST_ID:
        raise ValueError(f"{tweet_id} is not the id of a tweet.")
    at = moment.now()
    if clock:
        newer = _after_clock(follower_id, clock)
    else:
        newer = _after(follower_id, _position(follower_id, tweet_id))
    ids = tuple(newer[:_MAX_NEWER])
    late = frozenset(id for id in ids if tweet_id is not None and id < tweet_id)
    older = ids[-1] if len(newer) > _MAX_NEWER else None
    return Page(ids, older, None, "arrivals", late=late, clock=at)


def _after_clock(follower_id: int, text: str) -> list[int]:
    at = moment.parse(text)
    params = {"follower": follower_id, "number": at.number, "snapshot": at.snapshot}
    with cursor() as db:
        return [row[0] for row in db.execute(_SINCE_CLOCK, params)]


def _position(follower_id: int, tweet_id: int | None) -> Position:
    if tweet_id is None:
        return _THE_BEGINNING
    with cursor() as db:
        row = db.execute(_POSITION, {"follower": follower_id, "tweet": tweet_id}).fetchone()
    return Position(*row) if row else _THE_BEGINNING


def _after(follower_id: int, at: Position) -> list[int]:
    params = {"follower": follower_id, **asdict(at)}
    with cursor() as db:
        return [row[0] for row in db.execute(_SINCE_TWEET, params)]
