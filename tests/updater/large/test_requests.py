"""Which tweets of a unit go into which request: pure choices."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackers.updater.models import TweetUpdate
from trackers.updater.requests import (
    count_requests,
    due_for_project,
    next_batch_size,
    rotate,
    split_into_requests,
)

IDS = st.lists(st.integers(1, 10**6), unique=True, max_size=450)


def test_the_request_size_of_the_queue_is_that_of_x():
    assert count_requests(TweetUpdate.request_keys) == 1
    assert count_requests(TweetUpdate.request_keys + 1) == 2


@given(IDS, st.sets(st.integers(1, 10**6), max_size=50))
def test_every_tweet_is_in_one_request_and_remainders_are_joined(ids, odd):
    results = split_into_requests(ids, odd)

    assert sorted(id for one in results for id in one) == sorted(ids)
    assert len(results) == count_requests(len(ids))
    assert all(list(one) == sorted(one) for one in results)
    with_odd = [one for one in results if not odd.isdisjoint(one)]
    assert len(with_odd) <= count_requests(len(odd & set(ids))) + 1


def test_each_tweet_is_left_out_equally_often():
    ids = list(range(150))

    asked = Counter(id for turn in range(150) for id in rotate(ids, turn)[:100])

    assert set(asked.values()) == {100}


def test_rotating_no_tweets_gives_none():
    assert rotate([], 7) == []


@pytest.mark.parametrize(
    ("count", "is_full", "is_first", "asked"),
    [
        pytest.param(350, True, True, 300, id="the rest waits for company"),
        pytest.param(350, True, False, 300, id="also of the smaller shares"),
        pytest.param(40, True, False, 0, id="a small share waits whole"),
        pytest.param(40, True, True, 40, id="but not where nothing else is asked for"),
        pytest.param(40, False, False, 40, id="nor where no company is due"),
    ],
)
def test_each_of_several_projects_fills_its_requests_while_more_is_due(
    count, is_full, is_first, asked
):
    found = due_for_project(list(range(count)), is_full=is_full, is_first=is_first)

    assert len(found) == asked


@pytest.mark.parametrize(
    ("requests", "projects", "capacity"),
    [(0, 0, 100), (0, 1, 100), (3, 1, 300), (0, 5, 1000), (2, 2, 400), (7, 2, 700)],
)
def test_a_smaller_batch_still_has_a_full_request_for_each_project(requests, projects, capacity):
    assert next_batch_size(requests, projects) == capacity
