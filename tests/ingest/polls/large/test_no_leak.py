"""Nothing is lost that appears less than k late; what appears later is measured to the post."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingest.world import KINDS, START_MS, NaiveReader, Reader, World, posted
from trackers.tweets.snowflake import first_id_at

HOUR = timedelta(hours=1)


def walk(reader, waits, *, until_ms):
    """Polls with these waits between them, and a whole one when everything has appeared."""
    for wait in waits:
        reader.poll()
        reader.world.now_ms += wait
    reader.world.now_ms = max(reader.world.now_ms, until_ms)
    while reader.sweep is not None:
        reader.poll()
    reader.poll()
    while reader.sweep is not None:
        reader.poll()


@st.composite
def worlds(draw, *, latest):
    """Rules, and posts that appear out of order, each less than `latest` of k late."""
    rules = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    most = round(rules.k_ms * latest) - 1
    late = st.sampled_from([0, 1, most // 2, most * 9 // 10, most]) | st.integers(0, most)
    at, when = 0, []
    for gap in draw(st.lists(st.sampled_from([0, 1, 7, 300, 2500, 9000]), max_size=40)):
        at += gap
        when.append((at + 1, rules.lag_ms + draw(late)))
    return rules, when


runs = {
    "waits": st.lists(st.sampled_from([0, 700, 4_000, 6_000, 15_000, 61_000]), max_size=25),
    "crashes": st.lists(st.booleans(), max_size=40),
    "took_ms": st.sampled_from([0, 1, 250, 2_900]),
    "tells_time": st.booleans(),
    "skew_ms": st.sampled_from([-5_000, 0, 5_000]),
}


@settings(max_examples=300, deadline=None)
@given(worlds(latest=1.0), *runs.values())
def test_posts_appearing_less_than_k_late_are_never_lost(
    world, waits, crashes, took_ms, tells_time, skew_ms
):
    rules, when = world
    posts = posted(*when)
    x = World(posts, took_ms=took_ms, tells_time=tells_time)
    # From an hour back: where the first poll begins is the only thing that our own clock says.
    reader = Reader(x, rules, crashes=crashes, skew_ms=skew_ms, depth=HOUR)

    walk(reader, waits, until_ms=START_MS + 600_000)
    reader.fill_gaps()

    assert {one.id for one in posts} - reader.stored == set()
    assert reader.gaps == []
    assert reader.leaked == set()


@settings(max_examples=200, deadline=None)
@given(worlds(latest=4.0), *runs.values())
def test_posts_appearing_later_than_k_are_found_by_the_next_overlap_as_leaks(
    world, waits, crashes, took_ms, tells_time, skew_ms
):
    rules, when = world
    posts = posted(*when)
    x = World(posts, took_ms=took_ms, tells_time=tells_time)
    reader = Reader(x, rules, crashes=crashes, skew_ms=skew_ms, depth=HOUR)
    walk(reader, waits, until_ms=START_MS + 1_200_000)
    reader.fill_gaps()
    missed = {one.id for one in posts} - reader.stored
    known = set(reader.leaked)

    reader.overlap(2 * HOUR)

    assert {one.id for one in posts} == reader.stored
    assert reader.leaked - known == missed


@settings(max_examples=100, deadline=None)
@given(worlds(latest=1.0), *runs.values(), st.integers(1, 12))
def test_posts_beyond_the_reach_of_x_lie_in_a_recorded_gap(
    world, waits, crashes, took_ms, tells_time, skew_ms, reach
):
    rules, when = world
    posts = posted(*when)
    x = World(posts, took_ms=took_ms, tells_time=tells_time, reach=reach)
    bounded = with_reach(rules, reach)
    reader = Reader(x, bounded, crashes=crashes, skew_ms=skew_ms, depth=HOUR)

    walk(reader, waits, until_ms=START_MS + 600_000)

    lost = {one.id for one in posts} - reader.stored
    assert {id for id in lost if not reader.is_in_a_gap(id)} == set()


def with_reach(rules, reach):
    """X shows only so many of the newest, and our rules know it."""

    class Bounded(type(rules)):
        __slots__ = ()

        @property
        def reach(self):
            return reach

    return Bounded(**{name: getattr(rules, name) for name in rules.__dataclass_fields__})


def busy(rules, *, seed, count=4_000, share_late=0.2):
    """Some posts a second; most appear at once, and every fifth up to k late."""
    chance, at, when = random.Random(seed), 0, []
    for _ in range(count):
        at += chance.randrange(800)
        late = chance.randrange(rules.k_ms) if chance.random() < share_late else 0
        when.append((at + 1, rules.lag_ms + late))
    return posted(*when), START_MS + at + rules.lag_ms + rules.k_ms


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("skew_ms", [-5_000, 0, 5_000])
def test_the_naive_cursor_loses_posts_where_ours_loses_none(kind, skew_ms):
    # A page of a list is read whole, whatever is known of it: a large one hides leaks.
    rules = replace(KINDS[kind], page_size=10, pages=1000)
    posts, over_ms = busy(rules, seed=1)
    all = {one.id for one in posts}
    waits = [10_000] * ((over_ms - START_MS) // 10_000)

    naive = NaiveReader(World(posts, took_ms=300), rules, skew_ms=skew_ms, depth=HOUR)
    ours = Reader(World(posts, took_ms=300), rules, skew_ms=skew_ms, depth=HOUR)
    walk(naive, waits, until_ms=over_ms)
    walk(ours, waits, until_ms=over_ms)

    assert len(all - naive.stored) > 10
    assert all - ours.stored == set()
    # The price: what is read twice. A search waits for a minute and a half each time.
    assert ours.world.shown / len(all) < {"search": 11, "list": 14}.get(kind, 2)


def test_a_fast_own_clock_would_leak_if_it_were_used():
    """Why the time of a request is X's: V7 of the formula, as a story."""
    rules = KINDS["account"]
    late = posted((1_000, 0), (900, 2_000))
    x = World(late)
    reader = Reader(x, rules, depth=HOUR)
    x.now_ms += 1_500
    reader.poll()
    x.now_ms += 5_000

    trusting = replace(reader.cursor, asked_at_ms=reader.cursor.asked_at_ms + 10_000)
    ours = Reader(x, rules, depth=HOUR)
    ours.cursor, ours.stored = reader.cursor, set(reader.stored)
    reader.cursor = trusting
    reader.poll()
    ours.poll()

    assert len(reader.stored) == 1
    assert len(ours.stored) == 2
    assert min(ours.stored) == first_id_at(START_MS + 900) + 1


def test_posts_appearing_between_pages_around_a_crash_are_read_by_the_next_poll():
    """Why the time of a sweep is that of its first page."""
    late = posted(*((n, 0) for n in range(7)), (3, 3_000))
    x = World(late)
    reader = Reader(x, KINDS["account"], crashes=[False, True], depth=HOUR)
    x.now_ms += 1_000
    reader.poll()
    x.now_ms += 10_000

    reader.poll()
    assert len(reader.stored) == 7
    reader.poll()

    assert len(reader.stored) == 8
