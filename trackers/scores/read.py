"""The scores of the tweets that are shown, from their newest measurements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trackers.scores.rule import AS_USUAL, MIN_POSTS, MINIMUMS
from trackers.tweets.checkpoints.ages import AGES_S
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

_AT = "trackers_expected_v1(t.age, t.low, t.high, {of}.at[{place}][1], {of}.at[{place}][2])"


def _each(template: str) -> str:
    return ", ".join(
        template.format(metric=metric, place=place, minimum=MINIMUMS[metric])
        for place, metric in enumerate(METRICS, 1)
    )


# A CTE `scored` over one called `asked`.
SCORED = statement(
    __file__,
    "_scored",
    ages=f"ARRAY[{', '.join(f'{age:.0f}' for age in AGES_S)}]::float8[]",
    expected=_each(
        f"coalesce({_AT.replace('{of}', 'own')}, {_AT.replace('{of}', 'of_all')})"
        " AS expected_{metric},"
        f" {_AT.replace('{of}', 'own')} IS NOT NULL AS of_kind_{{metric}},"
        f" CASE WHEN {_AT.replace('{of}', 'own')} IS NOT NULL THEN own.n[{{place}}][1]"
        " ELSE of_all.n[{place}][1] END AS posts_{metric}"
    ),
    scores=_each("trackers_score_v1({metric}, expected_{metric}, {minimum}) AS score_{metric}"),
)
OF_TWEETS = statement(
    __file__,
    "of_tweets",
    scored=SCORED,
    columns=_each(
        "{metric}, expected_{metric}, coalesce(posts_{metric}, 0), of_kind_{metric}, score_{metric}"
    ),
)


class Scored(NamedTuple):
    """One metric of a tweet at the age of its newest measurement.

    A tuple, since a set's figures are of thousands: creating a dataclass takes four times as long.
    """

    metric: str
    actual: int | None
    expected: float | None  # None: too few posts
    posts: int  # how many posts say so, 100 at most
    kind: PostKind | None  # of these posts; None: of all kinds
    score: float | None

    @property
    def is_as_usual(self) -> bool:
        low, high = AS_USUAL
        return self.score is not None and low < self.score < high

    @property
    def missing(self) -> int:
        """How many more posts it takes to say what is usual."""
        return max(0, MIN_POSTS - self.posts)


def main_score(scores: Mapping[str, Scored], metric: str = "") -> Scored | None:
    """That of `metric`, or of what a tweet is first judged by: its views, or its likes where X
    shows no views."""
    if metric:
        return scores.get(metric)
    of_views = scores.get("views")
    return of_views if of_views and of_views.actual is not None else scores.get("likes", of_views)


def scores_of(tweet_ids: Iterable[int]) -> dict[int, dict[str, Scored]]:
    """The scores by tweet and metric. Retweets, gone and never measured tweets have none, nor has
    one that was last measured before it was five minutes old."""
    asked = list(tweet_ids)
    by_tweet: dict[int, dict[str, Scored]] = {id: {} for id in asked}
    if not asked:
        return by_tweet
    with cursor() as db:
        for id, own_kind, *columns in db.execute(OF_TWEETS, {"ids": array(asked)}):
            for place, metric in enumerate(METRICS):
                actual, expected, posts, is_of_kind, score = columns[5 * place : 5 * place + 5]
                kind = PostKind(own_kind) if is_of_kind else None
                by_tweet[id][metric] = Scored(metric, actual, expected, posts, kind, score)
    return by_tweet
