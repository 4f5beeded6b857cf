"""A tweet's state, in one word to filter by, and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from trackers.jobs.models import MAX_STRIKES
from trackers.tweets.finding.direction import Direction, FoundIds
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate
from tweetwatch.database import cursor
from tweetwatch.statements import statement

# The choices of the filter, in the page's order.
STATES = {
    "fresh": "Checked regularly",
    "resting": "Resting",
    "paused": "Paused",
    "no_money": "Waits for money",
    "missing": "Missing",
    "not_found": "Not found on X",
    "unreadable": "Unreadable",
    "gone": "Gone",
    "isolated": "Isolated",
}
_NOT_FOUND = "not_found"
_NO_MONEY = (
    "today's budget is spent or kept for younger tweets; raise it in the admin, or wait for the "
    "next check"
)
# The rare states, each with an index of its own.
RARE_STATES = {"paused", "no_money", "missing", "not_found", "unreadable", "gone", "isolated"}


# In these, a tweet has a next check.
SCHEDULED_STATES = ("fresh", "no_money", "missing", "not_found", "unreadable", "gone")
# The name of `tweet_state` in SQL: of a tweet `t` and its job `j`, or none.
STATE_OF_ROW = f"""
    CASE WHEN t.gone_at IS NOT NULL THEN 'gone'
         WHEN t.paused THEN 'paused'
         WHEN t.version_of IS NOT NULL AND j.key IS NULL THEN 'resting'
         WHEN j.strikes >= {MAX_STRIKES} THEN 'isolated'
         WHEN t.missing_since IS NOT NULL AND t.missing_reason = '{_NOT_FOUND}' THEN '{_NOT_FOUND}'
         WHEN t.missing_since IS NOT NULL THEN 'missing'
         WHEN t.unreadable_since IS NOT NULL THEN 'unreadable'
         WHEN j.for_money_until = j.due_at THEN 'no_money'
         WHEN j.key IS NOT NULL THEN 'fresh'
         ELSE 'resting' END
"""


@dataclass(frozen=True, slots=True)
class TweetState:
    name: str  # one of STATES
    words: str
    why: str = ""  # may be empty

    @property
    def is_scheduled(self) -> bool:
        return self.name in SCHEDULED_STATES


def tweet_state(tweet: Tweet, job: TweetUpdate | None) -> TweetState:
    because = tweet.get_missing_reason_display()
    if tweet.gone_at:
        return TweetState("gone", "Gone", because)
    if tweet.paused:
        return TweetState("paused", "Paused", "it is not checked until it is resumed")
    if tweet.version_of and not job:
        return TweetState("resting", "Resting", f"it is a version of tweet {tweet.version_of}")
    if job and job.strikes >= MAX_STRIKES:
        return TweetState("isolated", "Isolated", "four checks of it never finished")
    if tweet.missing_since and tweet.missing_reason == _NOT_FOUND:
        return TweetState(
            "not_found", STATES["not_found"], "a second check will show if it is gone"
        )
    if tweet.missing_since:
        return TweetState(
            "missing", "Missing", f"{because}; a second check will show if it is gone"
        )
    if tweet.unreadable_since:
        return TweetState("unreadable", "Unreadable", _why_unreadable(tweet))
    if job and job.waits_for_money:
        return TweetState("no_money", STATES["no_money"], _NO_MONEY)
    if job:
        return TweetState("fresh", STATES["fresh"])
    return TweetState("resting", "Resting", "it is older than the last interval")


def _why_unreadable(tweet: Tweet) -> str:
    if tweet.unreadable_reason:
        return f"X's reply about it could not be read ({tweet.unreadable_reason})"
    return "X leaves it out of its replies and does not say why"


def in_state(tweets: QuerySet[Tweet], name: str) -> QuerySet[Tweet]:
    """Tweets in one of STATES; each is in only one, as in `tweet_state`."""
    if name == "gone":
        return tweets.exclude(gone_at=None)
    tweets = tweets.filter(gone_at=None)
    if name == "paused":
        return tweets.filter(paused=True)
    tweets = tweets.filter(paused=False)
    jobs = TweetUpdate.objects.filter(key=OuterRef("pk"))
    isolated = Exists(jobs.filter(strikes__gte=MAX_STRIKES))
    if name == "isolated":
        return tweets.filter(isolated)
    if name in ("missing", "not_found"):
        missing = tweets.exclude(missing_since=None).filter(~isolated)
        is_known = Q(missing_reason=_NOT_FOUND)
        return missing.filter(is_known if name == "not_found" else ~is_known)
    tweets = tweets.filter(missing_since=None)
    if name == "unreadable":
        return tweets.exclude(unreadable_since=None).filter(~isolated)
    tweets = tweets.filter(unreadable_since=None)
    waiting = Exists(jobs.filter(for_money_until=F("due_at")))
    if name == "no_money":
        return tweets.filter(waiting)
    if name == "fresh":
        return tweets.filter(Exists(jobs.filter(strikes__lt=MAX_STRIKES)), ~waiting)
    return tweets.filter(~Exists(jobs))


def candidates(name: str, direction: Direction, most: int) -> FoundIds:
    """The next tweets that may be in a state, by the smallest index that has them in order."""
    rows: QuerySet[Any] = Tweet.objects.all()
    key = "pk"
    if name == "gone":
        rows = rows.exclude(gone_at=None)
    elif name == "paused":
        rows = rows.filter(paused=True)
    elif name in ("missing", "not_found"):
        rows = rows.filter(gone_at=None).exclude(missing_since=None)
    elif name == "unreadable":
        rows = rows.exclude(unreadable_since=None)
    elif name in ("fresh", "isolated", "no_money"):
        key, rows = "key", TweetUpdate.objects.all()
        if name == "isolated":
            rows = rows.filter(strikes__gte=MAX_STRIKES)
        elif name == "no_money":
            rows = rows.exclude(for_money_until=None)
    if direction.up:
        rows = rows.filter(**{f"{key}__gt": direction.beyond}).order_by(key)
    else:
        rows = rows.filter(**{f"{key}__lt": direction.beyond}).order_by(f"-{key}")
    ids = list(rows.values_list(key, flat=True)[:most])
    return FoundIds(ids, until=ids[-1] if len(ids) == most else None)


def candidates_missing(direction: Direction, most: int) -> FoundIds:
    """The next tweets that X does not show, gone or not, as both of their indexes have them."""
    looks = [candidates(name, direction, most) for name in ("gone", "missing")]
    ids = sorted({id for look in looks for id in look.ids}, reverse=not direction.up)
    ends = [look.until for look in looks if look.until is not None]
    if not ends:
        return FoundIds(ids, until=None)
    # Beyond the nearer end, one of the two was not read.
    until = min(ends) if direction.up else max(ends)
    return FoundIds([id for id in ids if (id <= until if direction.up else id >= until)], until)


_FIRST_RESTING = statement(__file__, "first_resting")


def first_resting(direction: Direction) -> Direction:
    """Where resting tweets begin, whatever the intervals are now or were before.

    Tweets come to rest by age: below some id most of them rest, and above it almost none.
    """
    if direction.up:
        return direction
    with cursor() as db:
        row = db.execute(_FIRST_RESTING, {"beyond": direction.beyond}).fetchone()
    return direction.on_from(row[0]) if row and row[0] else direction
