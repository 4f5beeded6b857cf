"""Rules about what does far better than usual.

rules about one tweet ─> its score now, whatever it is ────────────────────────┐
rules about all, an author, a source … ─> scores that rose in the last minute ─┴─> who is far above
The scores are those of tweets that crossed an age, stand out, or move (trackers.scores.update).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.alerts.membership import of_these_sets, searched_as
from trackers.alerts.models import AlertRule
from trackers.alerts.velocity import SOURCES_MOST, author_names, tweet_finding
from trackers.alerts.words import lasting
from trackers.outbox.findings import Observation
from trackers.scores.read import Scored, scores_of
from trackers.scores.words import posts_compared, score_words, usual_count
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import born_at
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

# Read in a minute; the rest waits for the next.
MAX_RISES = 50_000

# A score that rose again by less than this does not write its row again.
RISES_APART = 1.05

_RISEN = statement(__file__, "risen")
_KEEP_RISES = """
    WITH taken AS (
        DELETE FROM trackers_scorerise WHERE id <= %(reached)s
        RETURNING at, tweet_id, metric, was, score
    )
    INSERT INTO trackers_recentrise AS r (at, tweet_id, metric, was, score)
    SELECT max(at), tweet_id, metric, min(was), max(score) FROM taken
    GROUP BY tweet_id, metric ORDER BY tweet_id, metric
    ON CONFLICT (tweet_id, metric) DO UPDATE SET
        at = excluded.at, was = least(r.was, excluded.was), score = excluded.score
    WHERE excluded.score > r.score * %(apart)s
"""
_REACHED = """
    SELECT max(id) FROM (SELECT id FROM trackers_scorerise ORDER BY id LIMIT %(most)s) oldest
"""


@dataclass(frozen=True, slots=True)
class _Compared:
    tweet: Tweet
    scores: Mapping[str, Scored]


def unusual_findings(
    rules: Sequence[AlertRule], *, now: datetime
) -> tuple[list[Observation], int | None]:
    """The observations, and up to which rise they go, to be deleted in the same transaction."""
    of_one = [rule for rule in rules if rule.about == AlertRule.About.TWEET]
    of_many = [rule for rule in rules if rule.about != AlertRule.About.TWEET]
    with cursor() as db:
        [reached] = db.execute(_REACHED, {"most": MAX_RISES}).fetchone() or [None]
    risen = _risen(of_many, reached, now=now) if of_many and reached else []
    compared = _compare({rule.of or 0 for rule in of_one} | {tweet for _, tweet in risen})
    authors = author_names({one.tweet.author_id for one in compared.values()} - {None})  # type: ignore[arg-type]
    observations = []
    for rule in of_one:
        # It lasts until the tweet is no longer so far above.
        wrong = _describe(rule, compared.get(rule.of or 0), authors)
        observations.append(tweet_finding(rule, rule.of or 0, wrong))
    by_id = {rule.pk: rule for rule in of_many}
    for rule_id, tweet in risen:
        if wrong := _describe(by_id[rule_id], compared.get(tweet), authors):
            observations.append(tweet_finding(by_id[rule_id], tweet, wrong, is_moment=True))
    return observations, reached


def keep_rises(reached: int | None) -> None:
    """Those that were read: for a day only how far each score rose."""
    if reached is not None:
        with cursor() as db:
            db.execute(_KEEP_RISES, {"reached": reached, "apart": RISES_APART})


def _risen(rules: Sequence[AlertRule], reached: int, *, now: datetime) -> list[tuple[int, int]]:
    """Rules and tweets: the highest hundred of each rule."""
    params = {
        "rules": array(one.pk for one in rules),
        "metrics": [one.metric for one in rules],
        "times": [one.times for one in rules],
        **searched_as(rules),
        "reached": reached,
        "sources_most": SOURCES_MOST,
    }
    with cursor() as db:
        rows = [(rule, tweet) for rule, tweet, _ in db.execute(_RISEN, params)]
    return of_these_sets(rules, rows, now=now)


def _compare(ids: set[int]) -> dict[int, _Compared]:
    scores = scores_of(ids)
    tweets = Tweet.objects.in_bulk(ids)
    return {id: _Compared(tweet, scores[id]) for id, tweet in tweets.items()}


def _describe(rule: AlertRule, compared: _Compared | None, authors: Mapping[int, str]) -> str:
    """Empty where the rule's bounds are not reached, or nothing is known to be usual."""
    scored = compared.scores.get(rule.metric) if compared else None
    if compared is None or scored is None or scored.score is None or scored.actual is None:
        return ""
    if scored.score < rule.times or scored.actual < rule.at:
        return ""
    tweet = compared.tweet
    born = tweet.created_at or born_at(tweet.pk)
    age = (tweet.measured_until or born) - born
    author = authors.get(tweet.author_id or 0, "")
    whose = f" of {author}" if author else ""
    return (
        f"Tweet {tweet.pk}{whose} has {scored.actual:,} {rule.metric} after "
        f"{lasting(max(age, timedelta(0)))}, {score_words(scored.score)} what is usual: "
        f"{usual_count(scored.expected)}, by the author's last {posts_compared(scored)}."
    )
