"""What `bench pipeline homes` measures with: tweets that are in ten homes indeed."""

from __future__ import annotations

import pytest

from tests.benchmarks.ten_homes import HOMES, lay_out
from tests.timelines.homes.world import assert_laid_out, assert_same, bring, source, tweet


@pytest.mark.django_db(transaction=True)
def test_every_tweet_is_in_ten_homes_by_each_strategy():
    tweets = [tweet(1, number) for number in range(5)]
    bring(source(), *tweets, described=False)

    followers = lay_out(range(1, HOMES + 1))

    assert len(followers) == HOMES
    for follower in followers:
        assert assert_same(follower) == tweets[::-1]
        assert assert_laid_out(follower) == 3
