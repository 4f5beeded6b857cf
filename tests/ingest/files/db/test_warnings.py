"""Odd values beside a good id: the tweet is tracked, and a warning says what was left out."""

import json
from datetime import UTC, datetime

import pytest

from tests.ingest.files.uploads import FIRST, A, bad_lines, counts, imported, v2_tweet
from trackers.ingest.files.lines import read_tweets
from trackers.ingest.files.track_lines import track_lines
from trackers.ingest.found_tweets import Rejected
from trackers.tweets.history import history
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import born_at

METRICS = {"retweet_count": 4, "reply_count": 0, "like_count": 2, "quote_count": 0}
V1 = {"id_str": str(A), "favorite_count": 3, "retweet_count": 1, "full_text": "words"}
NOON = datetime(2023, 5, 3, 12, tzinfo=UTC)


def v2(**given):
    return v2_tweet(0, bulk=0, **{"public_metrics": METRICS, **given})


def metrics(**given):
    return v2(public_metrics={**METRICS, **given})


def read_value(value):
    [found] = read_tweets([json.dumps(value)], format="jsonl")
    return found


@pytest.mark.parametrize(
    ("value", "figures", "odd"),
    [
        pytest.param(metrics(retweet_count=1.0), (1, 0, 2), "retweet_count is 1.0, taken as 1"),
        pytest.param(metrics(retweet_count="7"), (7, 0, 2), "retweet_count is 7, taken as 7"),
        pytest.param(metrics(like_count=1.5), (4, 0, None), "like_count is 1.5, left out"),
        pytest.param(metrics(like_count=None), (4, 0, None), "like_count is None, left out"),
        pytest.param(metrics(like_count=10**12), (4, 0, None), "like_count is 1000000000000, left"),
        pytest.param(metrics(like_count=True), (4, 0, None), "like_count is True, left out"),
        pytest.param(v2(public_metrics={}), (None,) * 3, "there is no count in it"),
        pytest.param(v2(public_metrics=None), (None,) * 3, "public_metrics is nothing"),
        pytest.param({**V1, "retweet_count": 5.0}, (5, None, 3), "retweet_count is 5.0, taken"),
        pytest.param({**V1, "user": "ada"}, (1, None, 3), "user is a text"),
        pytest.param(v2(author_id=1.5e18), (4, 0, 2), "author_id is not an id, left out"),
        pytest.param(v2(text=["words"]), (4, 0, 2), "text is a list instead of a text, left out"),
        pytest.param(v2(edit_history_tweet_ids=[1]), (4, 0, 2), "edit_history_tweet_ids is no"),
    ],
)
def test_an_invalid_value_is_dropped_alone(value, figures, odd):
    results = read_value(value)

    assert results.odd.startswith(odd)
    assert results.line == 1
    assert results.post.figures[:3] == figures


@pytest.mark.parametrize(
    ("created_at", "expected", "odd"),
    [
        ("2023-05-03T12:00:00", NOON, "created_at has no time zone, read as UTC"),
        ("2023-05-03 12:00:00", NOON, "created_at has no time zone, read as UTC"),
        ("yesterday", born_at(FIRST), "created_at is not a time, taken from the id"),
        (1683115200000, born_at(FIRST), "created_at is not a time, taken from the id"),
    ],
)
def test_a_time_without_a_zone_is_utc_and_a_missing_one_is_that_of_the_id(
    created_at, expected, odd
):
    found = read_value(v2(created_at=created_at))

    assert (found.post.created_at, found.odd) == (expected, odd)
    assert found.post.figures.retweets == 4


def test_values_in_the_format_of_x_give_no_warning():
    for value in (v2(), V1, {**V1, "id_str": None, "id": A}, {"id": str(A)}):
        assert read_value(value).odd == ""


def test_a_line_without_a_valid_id_is_no_tweet():
    for value in ({**V1, "id_str": "x"}, {**v2(), "id": 1.65e18}, {"public_metrics": METRICS}):
        assert isinstance(read_value(value), Rejected)


def test_a_file_of_pandas_is_imported_and_its_warnings_are_counted_and_kept():
    lines = [json.dumps(v2_tweet(n, public_metrics={"like_count": n + 1.0})) for n in range(1500)]
    lines[7] = json.dumps(v2_tweet(7))

    report = imported("\n".join([*lines, "bad"]))

    assert counts(report) == (1501, 1500, 0, 1)
    assert report.warnings == 1499
    assert bad_lines(report) == [1501]
    kept = report.source.rejected_lines.filter(tracked=True)
    assert [one.line for one in kept[:8]] == [1, 2, 3, 4, 5, 6, 7, 9]
    assert kept.count() == 1000
    assert kept[0].why == "like_count is 1.0, taken as 1"
    [run] = history(FIRST)
    assert run.likes == 1


# No database takes more than a megabyte of words into an index.
TOO_MANY_WORDS = " ".join(f"word{n}" for n in range(100_000))


def test_a_value_refused_by_the_database_rejects_its_line_and_not_the_part():
    tweets = [v2_tweet(n, bulk=0) for n in range(60)]
    tweets[33]["text"] = TOO_MANY_WORDS

    report = imported("\n".join(map(json.dumps, tweets)))

    assert (counts(report), report.warnings) == ((60, 60, 0, 0), 1)
    [odd] = report.source.rejected_lines.all()
    assert (odd.line, odd.tracked) == (34, True)
    assert "the database refuses what came with it" in odd.why
    refused, other = (Tweet.objects.get(pk=int(tweets[n]["id"])) for n in (33, 34))
    assert (refused.author_id, refused.likes) == (None, None)
    assert (other.author_id, other.likes) == (35, 34)


def test_ids_of_many_refused_lines_are_still_tracked():
    tweets = [json.dumps(v2_tweet(n, bulk=0, text=TOO_MANY_WORDS)) for n in range(4)]

    done = track_lines(tweets, came_from="a test")

    assert (done.read, done.tracked, len(done.odd), done.rejected) == (4, 4, 4, [])
