"""Documents in one line, of which up to 16 MB may be one value: no objects are made of what is not
complete, and numbers of lines, damage and letters are as in a short one."""

import json
import os
import subprocess
import sys

import pytest

from tests.benchmarks.files import READ
from tests.ingest.files.outcomes import outcome_of
from trackers.ingest.files.lines import read_tweets

FIRST, STEP = 1_212_092_628_029_698_055, 4_194_313
# Longer than what is tried before its end has come.
LONG = 3 << 20


def tweet(place, **fields):
    return {"id_str": str(FIRST + place * STEP), "text": "words", **fields}


def ids(*places):
    return [FIRST + place * STEP for place in places]


def test_a_long_document_needs_little_more_memory_than_its_text(tmp_path):
    """Objects of many small values are ten times as large as their text."""
    numbers = [0.5] * 8000
    document = {"statuses": [tweet(place, user={"x": numbers}) for place in range(600)]}
    path = tmp_path / "page.json"
    path.write_text(json.dumps(document, separators=(",", ":")))

    environment = {**os.environ, "PYTHONPATH": "."}
    printed = subprocess.run(
        [sys.executable, "-c", READ, path], capture_output=True, text=True, env=environment
    ).stdout

    count, _, megabytes, _ = printed.split()
    assert int(count) == 600
    assert path.stat().st_size > 17 << 20
    assert float(megabytes) < 250


TROUBLES = {
    "brackets in it": "]}{[" * (LONG // 4),
    "quotes in it": '\\"' * (LONG // 2),
    "backslashes at its end": "x" * LONG + "\\" * 7,
    "letters of four bytes": "\U0001f600" * (LONG // 4),
    "short": "x",
}


@pytest.mark.parametrize("text", TROUBLES.values(), ids=TROUBLES)
@pytest.mark.parametrize("ascii", [True, False])
def test_a_long_value_among_others_is_read_whole(text, ascii):
    document = [tweet(0), tweet(1, text=text, entities={"urls": []}), tweet(2)]

    outcome = outcome_of(json.dumps(document, ensure_ascii=ascii).encode())

    assert (outcome.ids, outcome.rejected) == (ids(0, 1, 2), {})


def test_lone_surrogates_in_a_long_value_are_read():
    line = json.dumps([tweet(0, text="x" * LONG + "\\ud83d"), tweet(1)]).replace("\\\\u", "\\u")

    outcome = outcome_of(line.encode())

    assert (outcome.ids, outcome.rejected) == (ids(0, 1), {})


@pytest.mark.parametrize("damage", ["tru", '"a" "b"', "1,,2", "]"])
def test_damage_in_a_long_value_is_rejected_by_its_line_and_reading_goes_on(damage):
    broken = json.dumps(tweet(1, text="x" * LONG))[:-1] + f', "more": {damage}}}'
    lines = ["[", json.dumps(tweet(0)) + ",", broken + ",", json.dumps(tweet(2)), "]"]

    outcome = outcome_of("\n".join(lines).encode())

    assert outcome.ids == ids(0, 2)
    assert [*outcome.rejected] == [3]


def test_several_objects_in_a_long_line_are_read_and_anything_else_is_rejected():
    several = json.dumps(tweet(0, text="x" * LONG)) + json.dumps(tweet(1))

    assert outcome_of(several.encode()).ids == ids(0, 1)
    [rejected] = read_tweets([f"{several} and more\n"], format="jsonl")
    assert rejected.line == 1
