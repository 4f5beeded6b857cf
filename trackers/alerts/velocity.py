"""Rules about velocity: they read the lists of what grows fastest, never all tweets.

rules about one tweet ─> that tweet is ranked, whatever its place ─┐
rules about all, an author, a source … ─> the lists ───────────────┴─> who is fast enough
A rule finds the hundred fastest. A list holds 2,000 tweets, so a rule about an author, a source, a
tag or a saved view finds only tweets among these.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from trackers.alerts.membership import of_these_sets, searched_as
from trackers.alerts.models import AlertRule
from trackers.alerts.words import lasting
from trackers.outbox.findings import NO_PATIENCE, Observation
from trackers.tweets.gains.update import MAX_LIST_LENGTH, rank_named
from trackers.tweets.models import Author
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

# How many sources of a tweet are read.
SOURCES_MOST = 20

_FAST = statement(__file__, "fast")


class Fast(NamedTuple):
    """A tweet that grows as fast as a rule asks for."""

    rule: int
    tweet: int
    author: int | None
    metric: str
    gain: int
    velocity: float
    since: datetime
    until: datetime


def velocity_findings(rules: Sequence[AlertRule], *, now: datetime) -> list[Observation]:
    """Observations for these rules, all about velocity; slower tweets have none."""
    if not rules:
        return []
    named = sorted({one.of for one in rules if one.about == "tweet" and one.of is not None})
    if named:
        rank_named(named, now=now)
    fast_tweets = of_these_sets(rules, _fast(rules), now=now)
    by_id = {one.pk: one for one in rules}
    authors = author_names({one.author for one in fast_tweets if one.author is not None})
    return [_finding_of(by_id[one.rule], one, authors) for one in fast_tweets]


def _fast(rules: Sequence[AlertRule]) -> list[Fast]:
    params = {
        "rules": array(one.pk for one in rules),
        "minutes": [one.minutes for one in rules],
        "metrics": [one.metric for one in rules],
        "ats": array(one.at for one in rules),
        **searched_as(rules),
        "list_most": MAX_LIST_LENGTH,
        "sources_most": SOURCES_MOST,
    }
    with cursor() as db:
        return [Fast._make(row) for row in db.execute(_FAST, params)]


def author_names(authors: set[int]) -> dict[int, str]:
    return {id: str(one) for id, one in Author.objects.in_bulk(authors).items()}


def _finding_of(rule: AlertRule, one: Fast, authors: dict[int, str]) -> Observation:
    return tweet_finding(rule, one.tweet, _describe_velocity(one, authors.get(one.author or 0, "")))


def _describe_velocity(fast_tweet: Fast, author: str) -> str:
    lasted = max(fast_tweet.until - fast_tweet.since, timedelta(minutes=1))
    whose = f" of {author}" if author else ""
    return (
        f"Tweet {fast_tweet.tweet}{whose} gained {fast_tweet.gain:,} "
        f"{fast_tweet.metric} in {lasting(lasted)}: "
        f"{round(fast_tweet.velocity):,} an hour."
    )


def tweet_finding(
    rule: AlertRule,
    tweet: int,
    wrong: str,
    *,
    is_moment: bool = False,
    rest: timedelta | None = None,
) -> Observation:
    """The end of it is not reported. `rest`: another one than the rule's."""
    return Observation(
        *("tweet", str(tweet), wrong, "", f"/tweets/{tweet}/"),
        rule=rule.pk,
        patience=NO_PATIENCE,
        rest=rest or rule.rest,
        is_moment=is_moment,
        is_event=rule.by_event,
        data={"rule": rule.name},
    )
