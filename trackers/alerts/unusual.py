"""Rules about what does better than usual: a young tweet against its author's earlier ones.

the lists of what grows fastest ─> the young ones ─> forty a minute ─> the usual at their age
Each young tweet has its turn: with more than forty, every second or third minute. This bounds the
cost of a minute, and so does its deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.alerts.milestones import is_of, origins_of
from trackers.alerts.models import AlertRule
from trackers.alerts.velocity import author_names, tweet_finding
from trackers.alerts.words import lasting, plain_number
from trackers.outbox.findings import Observation
from trackers.tweets.gains.models import Window
from trackers.tweets.gains.update import MAX_LIST_LENGTH
from trackers.tweets.growth.at_ages import at_ages
from trackers.tweets.growth.band import Middle, counts_at, middle
from trackers.tweets.growth.earlier import of_author
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

_YOUNG = timedelta(days=1)
# Earlier, a few counts more are already many times the usual.
_OLD_ENOUGH = timedelta(minutes=10)
JUDGED_MOST = 40
# How many earlier tweets one is compared with.
_COMPARED = 20

# Reads the list from the front of its index; LATERAL with LIMIT, so that each tweet is found by its
# key, whatever the statistics say.
_FASTEST_YOUNG = """
    SELECT m.tweet_id FROM (
        SELECT tweet_id, velocity FROM trackers_gain
        WHERE minutes = %(minutes)s AND metric = %(metric)s
        ORDER BY velocity DESC, tweet_id DESC LIMIT %(most)s
    ) m CROSS JOIN LATERAL (
        SELECT FROM trackers_tweet
        WHERE id = m.tweet_id AND gone_at IS NULL
          AND created_at BETWEEN %(since)s AND %(until)s LIMIT 1
    ) t
    ORDER BY m.velocity DESC, m.tweet_id DESC
"""


@dataclass(frozen=True, slots=True)
class AgeComparison:
    """What a tweet had at an age, and what its author's earlier ones had then."""

    tweet: int
    author: int | None
    age: timedelta
    figure: int
    benchmark: Middle


def unusual_findings(
    rules: Sequence[AlertRule], *, now: datetime, deadline: Deadline
) -> list[Observation]:
    """The observations of the tweets whose turn it is; one without any has not changed."""
    observations: list[Observation] = []
    for metric in sorted({one.metric for one in rules}):
        chosen = [one for one in rules if one.metric == metric]
        turn = turns(_young(chosen, metric, now=now), minute=int(now.timestamp() // 60))
        origins = origins_of(turn)
        wanted = {
            id: [rule for rule in chosen if _is_about(rule, id, *origins[id])]
            for id in turn
            if id in origins
        }
        compared = _compare_with_benchmark(
            [id for id, rules in wanted.items() if rules], metric, deadline
        )
        authors = author_names({one.author for one in compared if one.author is not None})
        observations += [
            tweet_finding(
                rule, one.tweet, _describe_unusual(rule, one, authors.get(one.author or 0, ""))
            )
            for one in compared
            for rule in wanted[one.tweet]
        ]
    return observations


def _young(rules: Sequence[AlertRule], metric: str, *, now: datetime) -> list[int]:
    """The young tweets that grew fastest in the last hour; and tweets with their own rule."""
    born = (now - _YOUNG, now - _OLD_ENOUGH)
    own = [one.of for one in rules if one.about == AlertRule.About.TWEET and one.of is not None]
    named = Tweet.objects.filter(pk__in=own, created_at__range=born, gone_at=None)
    tweets = list(named.values_list("pk", flat=True))
    if len(own) < len(rules):
        params = {"metric": metric, "minutes": Window.HOUR.value, "most": MAX_LIST_LENGTH}
        with cursor() as db:
            rows = db.execute(_FASTEST_YOUNG, {**params, "since": born[0], "until": born[1]})
            tweets += [id for (id,) in rows]
    return list(dict.fromkeys(tweets))


def turns(tweets: Sequence[int], *, minute: int) -> list[int]:
    """Those whose turn it is in this minute: at most JUDGED_MOST."""
    rounds = -(-len(tweets) // JUDGED_MOST) or 1
    return [one for one in tweets if (one >> 22) % rounds == minute % rounds][:JUDGED_MOST]


def _is_about(rule: AlertRule, tweet: int, author: int | None, sources: Sequence[int]) -> bool:
    if rule.about == AlertRule.About.TWEET:
        return rule.of == tweet
    return is_of(rule, author, sources)


def _compare_with_benchmark(
    tweets: Iterable[int], metric: str, deadline: Deadline
) -> list[AgeComparison]:
    """Those that can be compared. When time is up, the others wait for their next turn."""
    rows = Tweet.objects.in_bulk(list(tweets))
    compared_tweets = []
    for tweet in rows.values():
        if deadline.is_over:
            break
        figure = getattr(tweet, metric)
        if tweet.author_id is None or not tweet.created_at or figure is None:
            continue
        measured = tweet.measured_until or tweet.created_at
        age = timedelta(seconds=int((measured - tweet.created_at).total_seconds()))
        if age < _OLD_ENOUGH:
            continue
        benchmark = _benchmark_at(tweet.author_id, tweet.pk, age, metric, now=measured)
        if benchmark:
            compared_tweets.append(AgeComparison(tweet.pk, tweet.author_id, age, figure, benchmark))
    return compared_tweets


def _benchmark_at(
    author: int, tweet: int, age: timedelta, metric: str, *, now: datetime
) -> Middle | None:
    """None where too few of the author's earlier tweets were measured near that age."""
    earlier = of_author(author, most=_COMPARED, below=tweet)
    readings = at_ages(earlier, [age], now=now, metrics=(metric,))
    return middle(counts[0] for counts in counts_at(readings, earlier).get(age, ()))


def _describe_unusual(rule: AlertRule, compared_tweet: AgeComparison, author: str) -> str:
    """Empty where the rule's bounds are not reached."""
    median = compared_tweet.benchmark.median
    if (
        compared_tweet.figure < rule.at
        or compared_tweet.figure < rule.times * median
        or not compared_tweet.figure
    ):
        return ""
    whose = f" of {author}" if author else ""
    much = (
        f"{plain_number(compared_tweet.figure / median)} times the usual"
        if median
        else "and usually there are 0"
    )
    return (
        f"Tweet {compared_tweet.tweet}{whose} has {compared_tweet.figure:,} "
        f"{rule.metric} after {lasting(compared_tweet.age)}, {much}: half of the "
        f"author's {compared_tweet.benchmark.tweets} tweets before it had "
        f"{plain_number(round(median, 1))} or fewer by then."
    )
