"""Read checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from trackers.tweets.checkpoints.ages import AGES
from trackers.xapi.results import Figures
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

_OF_TWEETS = statement(__file__, "of_tweets")


def checkpoints_of(
    tweet_ids: Iterable[int], ages: Sequence[timedelta] = AGES
) -> dict[int, dict[timedelta, Figures]]:
    """What the tweets had at these of AGES, by tweet and increasing age. An age at which a tweet
    was not measured is left out."""
    asked = list(tweet_ids)
    by_tweet: dict[int, dict[timedelta, Figures]] = {id: {} for id in asked}
    params = {"ids": array(asked), "ages": [AGES.index(age) + 1 for age in ages]}
    with cursor() as db:
        for id, age, *counts in db.execute(_OF_TWEETS, params, binary=True):
            by_tweet[id][AGES[age - 1]] = Figures(*counts)
    return by_tweet
