"""Tweets side by side, and as files, by the API."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from tests.api.test_tweets import AT, MINUTE, measure, track
from tests.factories import TweetFactory

pytestmark = pytest.mark.django_db


def test_tweets_are_compared_by_age(owner):
    TweetFactory(id=1, created_at=AT)
    TweetFactory(id=2, created_at=AT - 30 * MINUTE)
    measure(1, (5, 10), (14, 20), (40, 30))
    measure(2, (-20, 100), (90, 300))

    told = owner.get("tweets/compare?ids=2,1&ages=15m,1h,7d")["tweets"]

    assert [one["tweet"]["id"] for one in told] == ["2", "1"]
    assert [[at["likes"] for at in one["at"]] for one in told] == [
        [100, 100, None],
        [20, None, None],
    ]
    assert told[1]["at"][0]["measured_at"] == "2026-11-02T12:14:00Z"
    assert [at["age"] for at in told[0]["at"]] == ["15m", "1h", "7d"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("ids=1", 400), ("ids=1,1", 400), ("ids=1,x", 400), ("ids=1,2,3,4,5,6,7", 400), ("", 400),
        ("ids=1,9", 404), ("ids=1,2&ages=often", 400), ("ids=1,2&ages=-1h", 400),
        ("ids=1,2&ages=0s", 400),
    ],
)  # fmt: skip
def test_a_comparison_that_makes_no_sense_is_refused(owner, query, status):
    TweetFactory(id=1)
    TweetFactory(id=2)
    owner.get(f"tweets/compare?{query}")
    assert owner.status == status


def test_tweets_and_samples_are_sent_as_files(owner):
    track(1, 2)
    TweetFactory(id=3)
    measure(3, (0, 5), (1, 6))

    rows = list(csv.DictReader(StringIO(owner.get("exports/tweets?format=csv&ids=1,3"))))
    assert {row["tweet_id"] for row in rows} == {"1", "3"}
    assert owner.headers["Content-Disposition"] == 'attachment; filename="tweets.csv"'
    lines = owner.ask("GET", "exports/samples?ids=3")
    assert [json.loads(line)["likes"] for line in lines.splitlines()] == [5, 6]
    assert len(owner.get("exports/tweets").splitlines()) == 3
    for query in ("format=xml", "ids=x", f"ids={10**19 - 1}"):
        owner.get(f"exports/tweets?{query}")
        assert owner.status == 400


def test_files_take_the_permission(program):
    program.get("exports/tweets")
    assert program.status == 403
