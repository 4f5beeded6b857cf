from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackers.schedule.durations import parse, spell, spoken_after_every
from trackers.schedule.validate import IntervalRow, faults

S, M, H, D = (timedelta(**{unit: 1}) for unit in ("seconds", "minutes", "hours", "days"))
DEFAULTS = [
    IntervalRow(18 * M, 60 * S),
    IntervalRow(60 * M, 5 * M),
    IntervalRow(D, H),
    IntervalRow(7 * D, 6 * H),
    IntervalRow(30 * D, D),
]


def adapts(**fields):
    """An hour that adapts; its fixed interval would be a fault, if anybody looked at it."""
    every = M if fields.get("accuracy", 1) is None else D
    usual = {"accuracy": 0.05, "at_most": 20 * S, "at_least": 15 * M}
    return IntervalRow(H, every, **{**usual, **fields})


def test_an_adapting_row_is_valid_whatever_its_fixed_interval():
    assert faults([adapts()]) == []


def test_the_default_intervals_are_valid():
    assert faults(DEFAULTS) == []


def test_the_default_intervals_sixty_times_faster_are_valid():
    assert faults([IntervalRow(row.younger_than / 60, row.every / 60) for row in DEFAULTS]) == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param([IntervalRow(timedelta(0), S)], "more than zero", id="no age"),
        pytest.param([IntervalRow(-H, S)], "more than zero", id="an age below nothing"),
        pytest.param([IntervalRow(H, timedelta(0))], "too often", id="without a pause"),
        pytest.param([IntervalRow(H, S / 2)], "too often", id="twice a second"),
        pytest.param([IntervalRow(H, -S)], "too often", id="backwards"),
        pytest.param(
            [IntervalRow(H, H + S)], "longer than the age itself", id="longer than the age"
        ),
        pytest.param([IntervalRow(800 * D, 366 * D)], "too seldom", id="more than a year"),
        pytest.param([IntervalRow(40_000 * D, D)], "no tweet is older", id="more than a century"),
        pytest.param([IntervalRow(H, M), IntervalRow(H, M)], "appears twice", id="one age twice"),
        pytest.param([IntervalRow(H, M), IntervalRow(M, S)], "must increase", id="falling ages"),
        pytest.param([IntervalRow(H, M, jitter=0.6)], "share from 0 to 0.5", id="too much jitter"),
        pytest.param(
            [IntervalRow(H, M, jitter=-0.1)], "share from 0 to 0.5", id="jitter below nothing"
        ),
        pytest.param([IntervalRow(H, M, enabled=False)], "At least one", id="none is enabled"),
        pytest.param([], "At least one", id="an empty list"),
        pytest.param([adapts(accuracy=0.0)], "from 0.1% to 50%, not 0%", id="no accuracy"),
        pytest.param([adapts(accuracy=0.51)], "from 0.1% to 50%", id="too little accuracy"),
        pytest.param([adapts(accuracy=float("nan"))], "from 0.1% to 50%", id="accuracy NaN"),
        pytest.param([adapts(accuracy=None)], "need an accuracy", id="bounds alone"),
        pytest.param([adapts(at_most=None)], "needs “at most every”", id="without at most"),
        pytest.param([adapts(at_least=None)], "needs “at least every”", id="without at least"),
        pytest.param([adapts(at_most=S / 2)], "too often", id="at most twice a second"),
        pytest.param([adapts(at_most=30 * M)], "longer than at least", id="at most after at least"),
        pytest.param([adapts(at_least=2 * H)], "longer than the age", id="at least after the age"),
    ],
)
def test_an_error_is_a_sentence(rows, said):
    (sentence,) = faults(rows)

    assert said in sentence
    assert sentence.endswith(".")


def test_every_error_is_reported():
    assert (
        len(
            faults(
                [IntervalRow(H, timedelta(0)), IntervalRow(M, 2 * M), IntervalRow(M, S, jitter=2)]
            )
        )
        == 5
    )


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("60s", 60 * S), ("18m", 18 * M), ("18 min", 18 * M), ("1h", H), ("7d", 7 * D),
        ("2w", 14 * D), ("1h30m", 90 * M), ("1h 30m", 90 * M), ("1.5h", 90 * M), ("0.3s", 0.3 * S),
        ("0:01:00", M), ("1:30:00", 90 * M), ("30 00:00:00", 30 * D), ("  5 S ", 5 * S),
    ],
)  # fmt: skip
def test_a_duration_is_parsed(text, length):
    assert parse(text) == length


@pytest.mark.parametrize("text", ["", "60", "m", "1x", "1h-", "nan", "9" * 40 + "d", "²s", "P1D"])
def test_a_malformed_duration_is_refused_with_a_sentence(text):
    with pytest.raises(ValueError, match="Write it as 60s"):
        parse(text)


@given(st.integers(0, 10**12).map(lambda microseconds: timedelta(microseconds=microseconds)))
def test_a_formatted_duration_is_parsed_back(length):
    assert parse(spell(length)) == length


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("60s", "every minute"), ("90s", "every 90 seconds"), ("5m", "every 5 minutes"),
        ("90m", "every 90 minutes"), ("1h", "every hour"), ("7d", "every 7 days"),
        ("754s", "every 12 minutes 34 seconds"), ("1.5s", "every 1.5 seconds"),
    ],
)  # fmt: skip
def test_sentences_have_durations_in_words(text, sentence):
    assert f"every {spoken_after_every(parse(text))}" == sentence
