"""Why a tweet is looked at next when it is: each sentence once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.intervals import Tier
from trackers.schedule.paid_days import DAY_S, LATE_S
from trackers.schedule.why import CLOSES, ELSEWHERE, Room, Waiting, why

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FIXED = Tier(DAY, HOUR, 0.05)
ADAPTS = Tier(DAY, HOUR, 0.05, Bounds(0.05, 60, 3 * 3600))


def usual(age, pace, times=1.0, looked_at=0.0):
    return Waiting(age, pace, times * adapted_wait(age, pace, ADAPTS.bounds), looked_at)


@pytest.mark.parametrize(
    ("tier", "waiting", "room", "said"),
    [
        (FIXED, Waiting(7200, 0.1, 3590), Room(), "tweets younger than 1d are looked up every 1h."),
        (FIXED, Waiting(7200, 0.1, 30), Room(), ELSEWHERE),
        (
            ADAPTS,
            usual(7200, 0.2 / 3600),
            Room(),
            "it grows by 20% an hour, and 5% may be missed.",
        ),
        (
            ADAPTS,
            usual(7200, 0.004 / 3600),
            Room(),
            "it grows by 0.40% an hour, and 5% may be missed.",
        ),
        (
            ADAPTS,
            usual(7200, 9 / 60),
            Room(),
            "it grows by 900% a minute, and the shortest interval is 60s.",
        ),
        (
            ADAPTS,
            usual(80_000, 0),
            Room(),
            "its figures do not change, and the longest interval is 3h.",
        ),
        (
            ADAPTS,
            usual(7200, 0.2 / 3600, 1.4),
            Room(windows=0.71),
            "it grows by 20% an hour; the wait is 1.4 times as long as usual, since X’s windows "
            "have room for 71% of the looks.",
        ),
        (
            ADAPTS,
            usual(7200, 0.2 / 3600, 2),
            Room(windows=1.5, money=0.4),
            "it grows by 20% an hour; the wait is 2.0 times as long as usual.",
        ),
        (ADAPTS, usual(7200, 0.2 / 3600, 0.1), Room(), ELSEWHERE),
        (
            ADAPTS,
            usual(80_000, 0, 2, looked_at=DAY_S - 3600),
            Room(money=0.4),
            "its figures do not change; the wait is 2.0 times as long as usual, since the budgets "
            "allow 40% of the tweet-days.",
        ),
        (
            ADAPTS,
            usual(80_000, 0, 2, looked_at=DAY_S - 3600),
            Room(windows=0.5, money=0),
            "its figures do not change; the wait is 2.0 times as long as usual, since X’s windows "
            "have room for 50% of the looks and the budgets allow 0% of the tweet-days.",
        ),
        (
            ADAPTS,
            Waiting(80_000, 0, 7200, looked_at=DAY_S - 7200 - LATE_S - 60),
            Room(money=0.4),
            CLOSES,
        ),
        (
            ADAPTS,
            Waiting(80_000, 0, 7200, looked_at=DAY_S - 7200 - LATE_S - 60),
            Room(money=1.2),
            ELSEWHERE,
        ),
    ],
)
def test_the_reason_is_the_one_that_decided(tier, waiting, room, said):
    assert why(tier, waiting, room=room) == said


def test_the_jitter_is_no_reason():
    for times in (0.951, 1.049):
        assert why(ADAPTS, usual(7200, 0.2 / 3600, times)).endswith("5% may be missed.")
