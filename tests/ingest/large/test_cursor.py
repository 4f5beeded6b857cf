"""The leak-safe cursor: vectors computed from the published formula, and what holds of all ids."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trackers.ingest.cursor import next_since_id, search_floor
from trackers.tweets.snowflake import LARGEST_ID, TWEPOCH_MS, first_id_at, ms_of

L = 1623124887853240327
AT = 1675818104123


def test_the_id_contains_its_time():
    assert ms_of(L) == AT
    assert first_id_at(AT) <= L < first_id_at(AT + 1)


@pytest.mark.parametrize(
    ("latest", "retrieved_at", "k", "since"),
    [
        pytest.param(L, 1675818164123, 1000, L, id="V1 quiet for a minute"),
        pytest.param(L, 1675818105123, 1000, 1623124887851761663, id="V2 k later exactly"),
        pytest.param(L, 1675818105124, 1000, L, id="V3 k and 1 ms later"),
        pytest.param(L, 1675818104323, 1000, 1623124884496318463, id="V4 200 ms later"),
        pytest.param(L, 1675818104123, 1000, 1623124883657457663, id="V5 the same ms"),
        pytest.param(L, 1675818099123, 1000, 1623124883657457663, id="V6 the clock 5 s behind"),
        pytest.param(L, 1675818109123, 1000, L, id="V7 the clock 5 s ahead, which leaks"),
        pytest.param(L, 1675818104623, 2000, 1623124881560305663, id="V8 k of 2 s"),
        pytest.param(L, 1675818104623, 5000, 1623124868977393663, id="V9 k of 5 s"),
        pytest.param(L, 1675818104133, 0, L, id="V10 k of nothing, 10 ms later"),
        pytest.param(L, 1675818104123, 0, 1623124887851761663, id="V11 k of nothing, the same ms"),
        pytest.param(20, AT, 1000, 20, id="V12 an id before time was in them"),
        pytest.param(20, 0, 1000, 20, id="V12 and retrieved in 1970"),
        pytest.param(29700859247, AT, 1000, 29700859247, id="V12 the last of them"),
        pytest.param(0, AT, 1000, 0, id="V12 no id"),
        pytest.param(0, -(10**15), 1000, 0, id="V12 no id, before all time"),
        pytest.param((1000 << 22) + 5, AT, 1000, 4194304005, id="V13 just k after the epoch"),
        pytest.param((1000 << 22) + 5, 0, 1000, 4194304005, id="V13 whenever it was retrieved"),
        pytest.param(20971520009, 1288834974647, 1000, 16777215999, id="V14 before the epoch"),
    ],
)
def test_the_cursor_formula_gives_the_documented_values(latest, retrieved_at, k, since):
    assert next_since_id(latest, retrieved_at, k_ms=k) == since


@pytest.mark.parametrize("latest", [20, 29700859247, L])
def test_without_a_clock_only_the_bound_below_the_newest_id_holds(latest):
    assert next_since_id(latest, None, k_ms=5000) == next_since_id(latest, 0, k_ms=5000)


@pytest.mark.parametrize(("latest", "k"), [(-1, 0), (L, -1)])
def test_negative_arguments_are_refused(latest, k):
    with pytest.raises(ValueError, match="must be 0 or more"):
        next_since_id(latest, AT, k_ms=k)


NOW = datetime(2026, 8, 26, 8, 41, 37, 480_000, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)


def test_the_floor_of_search_is_the_id_that_x_names():
    assert search_floor(NOW_MS, timedelta(0)) == 2089996193672200192
    assert 2089996193672200192 % 2**22 == 0


def test_the_margin_raises_the_floor_of_search():
    floor = search_floor(NOW_MS, timedelta(minutes=10))

    assert ms_of(floor) == NOW_MS - (7 * 86_400 - 600) * 1000
    assert search_floor(0, timedelta(0)) == 0


ids = st.integers(0, LARGEST_ID)
times = st.integers(-(10**12), 4 * 10**12)
LARGEST_K = 10**6
ks = st.integers(0, LARGEST_K)


@given(ids, times | st.none(), ks)
def test_the_cursor_is_between_zero_and_the_newest_id(latest, at, k):
    assert 0 <= next_since_id(latest, at, k_ms=k) <= latest


@given(ids, times, times, ks)
def test_a_later_request_never_reads_further_back(latest, at, other, k):
    earlier, later = sorted((at, other))

    assert next_since_id(latest, earlier, k_ms=k) <= next_since_id(latest, later, k_ms=k)
    assert next_since_id(latest, None, k_ms=k) <= next_since_id(latest, earlier, k_ms=k)


@given(st.integers(0, LARGEST_ID - (LARGEST_K + 1 << 22)), times | st.none(), ks, ks)
@example(L - (5001 << 22), AT, 1000, 5000)
def test_a_larger_k_never_skips_more(beyond, at, k, other):
    smaller, larger = sorted((k, other))
    # Ids of the epoch's first k ms are the formula's guard: there is nothing below them.
    latest = (larger + 1 << 22) + beyond

    assert next_since_id(latest, at, k_ms=larger) <= next_since_id(latest, at, k_ms=smaller)


@given(st.integers(10**7, 2**41 - 10**7), st.integers(0, 10**6), ks, st.data())
def test_posts_appearing_less_than_k_after_the_request_are_after_the_cursor(since, after, k, data):
    """The promise itself: posts that were not there yet have ids that the next request reads."""
    latest = (since << 22) + data.draw(st.integers(0, 2**22 - 1))
    asked_at = since + after
    appears = data.draw(st.integers(asked_at, asked_at + 10**6))
    late = (appears - data.draw(st.integers(0, k)) << 22) + data.draw(st.integers(0, 2**22 - 1))

    assert late > next_since_id(latest, asked_at + TWEPOCH_MS, k_ms=k)


@given(ids)
def test_the_id_of_a_millisecond_has_that_time(id):
    assert first_id_at(ms_of(id)) <= id
    assert id < first_id_at(ms_of(id) + 1) or ms_of(id) - TWEPOCH_MS == 2**41 - 1
