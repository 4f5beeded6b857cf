"""What the two loops of a deliverer do in a turn, and how long they rest after it."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.events.conftest import books, news, subscriber
from trackers.events.delivery.claim import Claimed
from trackers.events.delivery.deliver import MOST_LOADED, few_of
from trackers.events.fan_out import MAX_STAGED
from trackers.events.fan_out_loop import BUSY_SECONDS, take_turn

NOW = datetime(2026, 11, 23, tzinfo=UTC)


def test_a_backlog_is_fanned_out_at_once_and_new_events_wait_to_fill_a_batch():
    subscriber(timeout_ms=3_600_000)
    for number in range(2 * MAX_STAGED + 1):
        news(number)

    rests = [take_turn().rest for _ in range(3)]

    assert rests == [0.0, 0.0, BUSY_SECONDS]
    assert books() == (2 * MAX_STAGED + 1, 0, 0, 2 * MAX_STAGED + 1)
    assert not take_turn().moved


BATCH = Claimed(1, 1, uuid4(), 1, [], 1, NOW, NOW)


@pytest.mark.parametrize(
    ("sizes", "together"),
    [
        pytest.param([1] * 200, 200, id="small batches all together"),
        pytest.param([100] * 200, MOST_LOADED // 100, id="up to so many events"),
        pytest.param([MOST_LOADED + 1, 1], 1, id="a large batch by itself"),
        pytest.param([1, MOST_LOADED, 1], 1, id="what is before a large batch"),
    ],
)
def test_batches_are_loaded_in_limited_groups_of_events(sizes, together):
    claimed = [(0.0, replace(BATCH, events=[1] * size)) for size in sizes]

    assert few_of(claimed) == together
