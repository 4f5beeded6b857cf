"""The author's earlier posts that one is compared with: what they had at each of AGES.

the newest hundred of its kind, or of all kinds ─ checkpoints ─┬─> the area of what is usual
                                                               └─> how they grew, for a projection
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.scores.models import EVERY_KIND, Benchmark
from trackers.scores.rule import MAX_POSTS, MIN_POSTS, expected_at, never_falling
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.growth.projection import FULL_AGE, PastTweet
from trackers.tweets.growth.quantiles import quantile
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.snowflake import born_at
from trackers.xapi.results import Figures
from tweetwatch.database import cursor

# Its newest posts before one, of which those of its kind are chosen. By the index of authors, and
# each text by its key.
_MOST_READ = 3 * MAX_POSTS
_EARLIER = f"""
    SELECT t.id, t.created_at, x.kind FROM (
        SELECT id, created_at, measurements, gone_at, version_of FROM trackers_tweet
        WHERE author_id = %(author)s AND id < %(below)s ORDER BY id DESC LIMIT {_MOST_READ}
    ) t LEFT JOIN LATERAL (
        SELECT kind, true AS is_described FROM trackers_tweettext WHERE tweet_id = t.id LIMIT 1
    ) x ON true
    WHERE t.measurements > 0 AND t.gone_at IS NULL AND t.version_of IS NULL
      AND (x.kind IS NOT NULL OR x.is_described IS NULL)
    ORDER BY t.id DESC
"""
_ByAge = list[float | None]


@dataclass(frozen=True, slots=True)
class UsualArea:
    """What is usual at any age, and between which counts half of the posts were."""

    low: _ByAge  # at each of AGES, as the others
    middle: _ByAge  # the benchmark
    high: _ByAge

    def at(self, age: timedelta) -> tuple[float, float, float] | None:
        """Low, middle and high; None: not known."""
        low, middle, high = (expected_at(age, of) for of in (self.low, self.middle, self.high))
        if low is None or middle is None or high is None:
            return None
        return min(low, middle), middle, max(high, middle)


@dataclass(frozen=True, slots=True)
class EarlierPosts:
    benchmark: Benchmark | None  # of the kind of these posts; None: too few
    born: dict[int, datetime]  # by id, newest first
    counts: dict[int, dict[timedelta, Figures]]

    def areas(self) -> dict[str, UsualArea]:
        """By metric; none where fewer than MIN_POSTS are known at every age."""
        if self.benchmark is None:
            return {}
        areas = {}
        for place, metric in enumerate(METRICS):
            known = [
                sorted(
                    count
                    for of_post in self.counts.values()
                    if (counts := of_post.get(age)) and (count := counts[place]) is not None
                )
                for age in AGES
            ]
            if any(len(counts) >= MIN_POSTS for counts in known):
                areas[metric] = UsualArea(
                    _at_share(known, 0.25), self.benchmark.expected[place], _at_share(known, 0.75)
                )
        return areas

    def pasts(self, metric: str, age: timedelta) -> list[PastTweet]:
        """Those that are older than a day, with what they had at `age` and after a day."""
        place = METRICS.index(metric)
        pasts = []
        for id, of_post in self.counts.items():
            by_age = [of_post[at][place] if at in of_post else None for at in AGES]
            early, late = expected_at(age, by_age), by_age[AGES.index(FULL_AGE)]
            if early is not None and late is not None:
                pasts.append(PastTweet(self.born[id], round(early), late))
        return pasts


def earlier_posts(tweet: Tweet, kind: int | None) -> EarlierPosts:
    """Those of the kind if its benchmark is known, else of all kinds; three statements."""
    if tweet.author_id is None:
        return EarlierPosts(None, {}, {})
    kinds = (kind or EVERY_KIND, EVERY_KIND)
    benchmarks = Benchmark.objects.filter(author_id=tweet.author_id, kind__in=kinds)
    benchmark = benchmarks.order_by("-kind").first()
    if benchmark is None:
        return EarlierPosts(None, {}, {})
    with cursor() as db:
        rows = db.execute(_EARLIER, {"author": tweet.author_id, "below": tweet.pk}).fetchall()
    chosen = [row for row in rows if benchmark.kind in (EVERY_KIND, row[2])][:MAX_POSTS]
    return EarlierPosts(
        benchmark,
        {id: created_at or born_at(id) for id, created_at, _ in chosen},
        checkpoints_of(id for id, *_ in chosen),
    )


def _at_share(known: Sequence[Sequence[int]], share: float) -> _ByAge:
    """What so many of the posts had less than, at each age."""
    return never_falling(
        [quantile(counts, share) if len(counts) >= MIN_POSTS else None for counts in known]
    )
