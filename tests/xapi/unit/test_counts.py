"""What X's counts are read as, in the words of both documents."""

import orjson
import pytest

from trackers.xapi.counts import _read_counted
from trackers.xapi.errors import Garbage

START, MIDDLE, END = (f"2026-11-20T{hour}:00:00.000Z" for hour in ("10", "11", "12"))


def row(start, end, posts, word="tweet"):
    return {"start": start, "end": end, f"{word}_count": posts}


def read(*rows):
    return _read_counted(orjson.dumps({"data": rows}), (), window=None)


@pytest.mark.parametrize("word", ["tweet", "post"])
def test_counts_are_read_in_either_word_oldest_first(word):
    counted = read(row(MIDDLE, END, 3, word), row(START, MIDDLE, 4, word))

    assert [hour.posts for hour in counted.spans] == [4, 3]
    assert counted.posts == 7


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([row(START, MIDDLE, "4")], id="a count as text"),
        pytest.param([row(START, MIDDLE, -1)], id="less than nothing"),
        pytest.param([row(START, MIDDLE, True)], id="a yes"),
        pytest.param([{"start": START, "end": MIDDLE}], id="no count"),
        pytest.param([row("yesterday", MIDDLE, 1)], id="no time"),
        pytest.param([row("2026-11-20T10:00:00", MIDDLE, 1)], id="a time without a zone"),
        pytest.param([row(START, MIDDLE, 1), row(END, END, 1)], id="a hole"),
        pytest.param([7], id="no object"),
    ],
)
def test_a_broken_count_is_garbage(rows):
    with pytest.raises(Garbage):
        read(*rows)


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"data": null}', b"<html>"])
def test_a_body_without_counts_is_garbage(body):
    with pytest.raises(Garbage):
        _read_counted(body, (), window=None)


@pytest.mark.parametrize("word", ["tweet", "post"])
def test_a_count_of_nothing_may_come_without_data(word):
    counted = _read_counted(orjson.dumps({"meta": {f"total_{word}_count": 0}}), (), window=None)

    assert counted.spans == ()


def test_a_count_of_some_needs_its_data():
    with pytest.raises(Garbage):
        _read_counted(b'{"meta": {"total_tweet_count": 3}}', (), window=None)
