"""A curve as text."""

from hypothesis import given
from hypothesis import strategies as st

from trackers.charts.blocks import in_blocks


def test_steps_are_equal_in_time_and_the_last_is_the_newest():
    assert in_blocks([(0, 0), (1, 7)]) == "▁▁▁▁▁▁▁▁▁▁▁█"
    assert in_blocks([(n, n) for n in range(12)]) == "▁▁▂▂▃▄▄▅▆▆▇█"
    # It stood still for long, and then rose at once.
    assert in_blocks([(0, 10), (10, 10), (11, 80)]) == "▁▁▁▁▁▁▁▁▁▁▁█"


def test_a_metric_that_fell_is_drawn_falling():
    assert in_blocks([(0, 70), (5, 0), (11, 0)]) == "█████▁▁▁▁▁▁▁"


def test_nothing_is_drawn_where_nothing_changes():
    assert in_blocks([]) == in_blocks([(0, 5)]) == in_blocks([(0, 5), (9, 5)]) == ""


@given(st.lists(st.tuples(st.floats(0, 2e9), st.integers(0, 10**15)), max_size=40))
def test_any_curve_is_short_and_of_blocks_alone(points):
    drawn = in_blocks(sorted(points))

    assert len(drawn) in (0, 12)
    assert set(drawn) <= set("▁▂▃▄▅▆▇█")
