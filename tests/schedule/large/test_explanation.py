"""Why a tweet is looked at next when it is: each sentence once."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackers.schedule.adapt import MAX_AT_LEAST_STRETCH, Bounds, adapted_wait
from trackers.schedule.explanation import (
    CLOSES,
    EARLIER,
    PUT_OFF,
    STRETCHED_OTHERWISE,
    TOLERANCE_S,
    ExplainedWait,
    StretchesThen,
    explain_wait,
)
from trackers.schedule.intervals import Tier
from trackers.schedule.paid_days import DAY_S, LATE_S, across_days

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FIXED = Tier(DAY, HOUR, 0.05)
ADAPTS = Tier(DAY, HOUR, 0.05, Bounds(0.05, 60, 3 * 3600))


def usual(age, pace, times=1.0, looked_at=0.0):
    return ExplainedWait(age, pace, times * adapted_wait(age, pace, ADAPTS.bounds), looked_at)


@pytest.mark.parametrize(
    ("tier", "waiting", "room", "said"),
    [
        (
            FIXED,
            ExplainedWait(7200, 0.1, 3590),
            StretchesThen(),
            "tweets younger than 1 day are checked every hour.",
        ),
        (FIXED, ExplainedWait(7200, 0.1, 30), StretchesThen(), EARLIER),
        (FIXED, ExplainedWait(7200, 0.1, 4000), StretchesThen(), f"{PUT_OFF}."),
        (
            ADAPTS,
            usual(7200, 0.2 / 3600),
            StretchesThen(),
            "it grows by 20% an hour, and 5% may be missed.",
        ),
        (
            ADAPTS,
            usual(7200, 0.004 / 3600),
            StretchesThen(),
            "it grows by 0.40% an hour, and 5% may be missed.",
        ),
        (
            ADAPTS,
            usual(7200, 9 / 60),
            StretchesThen(),
            "it grows by 900% a minute, and the shortest interval is 1 minute.",
        ),
        (
            ADAPTS,
            usual(80_000, 0),
            StretchesThen(),
            "its figures hardly change, and the longest interval is 3 hours.",
        ),
        (
            ADAPTS,
            usual(7200, 0.2 / 3600, 1.4),
            StretchesThen(windows=1.4, lookups=0.71),
            "it grows by 20% an hour; the wait is 1.4 times the usual, since X's windows "
            "have room for 71% of the look-ups.",
        ),
        (
            ADAPTS,
            usual(7200, 0.2 / 3600, 1.4),
            StretchesThen(windows=1.4),
            "it grows by 20% an hour; the wait is 1.4 times the usual, since X's windows "
            "had too little room.",
        ),
        # No stretch makes it so long.
        (
            ADAPTS,
            usual(7200, 0.2 / 3600, 2),
            StretchesThen(windows=1.4, money=5, lookups=0.71, days=0.4),
            "it grows by 20% an hour; the wait is 2.0 times the usual, since "
            f"{STRETCHED_OTHERWISE}.",
        ),
        (ADAPTS, usual(7200, 0.2 / 3600, 0.1), StretchesThen(), EARLIER),
        (
            ADAPTS,
            usual(80_000, 0, 2, looked_at=DAY_S - 3600),
            StretchesThen(money=2, days=0.4),
            "its figures hardly change; the wait is 2.0 times the usual, since the budgets "
            "allow 40% of the tweet-days.",
        ),
        # At least every is three times as long at most.
        (
            ADAPTS,
            usual(80_000, 0, 3, looked_at=DAY_S - 3600),
            StretchesThen(money=9),
            "its figures hardly change; the wait is 3.0 times the usual, since the budgets "
            "were short.",
        ),
        (
            ADAPTS,
            usual(80_000, 0, 3.5, looked_at=DAY_S - 3600),
            StretchesThen(money=9),
            "its figures hardly change; the wait is 3.5 times the usual, since "
            f"{STRETCHED_OTHERWISE}.",
        ),
        (
            ADAPTS,
            usual(80_000, 0, 2, looked_at=DAY_S - 3600),
            StretchesThen(windows=1.5, money=1.4, lookups=0.5, days=0),
            "its figures hardly change; the wait is 2.0 times the usual, since X's windows "
            "have room for 50% of the look-ups and the budgets allow 0% of the tweet-days.",
        ),
        # The new day's look-ups are spread over its first half hour.
        (
            ADAPTS,
            ExplainedWait(7200, 0.2 / 3600, 900, looked_at=DAY_S - 600),
            StretchesThen(money=1.01, days=0.9),
            "it grows by 20% an hour; the wait is 1.5 times the usual, since the budgets "
            "allow 90% of the tweet-days.",
        ),
        (
            ADAPTS,
            ExplainedWait(80_000, 0, 7200, looked_at=DAY_S - 7200 - LATE_S - 60),
            StretchesThen(money=2),
            CLOSES,
        ),
        # Later than usual, and sooner than where the windows are short.
        (
            ADAPTS,
            ExplainedWait(80_000, 0, 4 * 3600, looked_at=DAY_S - 4 * 3600 - LATE_S - 60),
            StretchesThen(windows=3, money=2, lookups=0.3),
            CLOSES,
        ),
        (
            ADAPTS,
            ExplainedWait(80_000, 0, 7200, looked_at=DAY_S - 7200 - LATE_S - 60),
            StretchesThen(),
            EARLIER,
        ),
    ],
)
def test_the_explanation_names_the_deciding_reason(tier, waiting, room, said):
    assert explain_wait(tier, waiting, room=room) == said


def test_jitter_is_not_a_reason():
    for times in (0.951, 1.049):
        assert explain_wait(ADAPTS, usual(7200, 0.2 / 3600, times)).endswith("5% may be missed.")


@settings(max_examples=200)
@given(
    st.floats(min_value=60, max_value=DAY_S - 60),
    st.floats(min_value=0, max_value=1e-3),
    st.floats(min_value=0, max_value=DAY_S),
    st.sampled_from([1.0, 1.04, 1.4, 5.0]),
    st.sampled_from([1.0, 1.3, 50.0]),
    st.tuples(*[st.floats(min_value=0, max_value=1)] * 2),
)
def test_every_plan_of_the_rule_has_its_reason(age, pace, looked_at, windows, money, chances):
    """Never one of those for a look-up that somebody moved."""
    bounds = ADAPTS.bounds
    planned = adapted_wait(age, pace, bounds, windows) * (1 + 0.05 * (2 * chances[0] - 1))
    wait = planned
    if money > 1:
        longest = MAX_AT_LEAST_STRETCH * bounds.at_least
        across = {"day_stretch": money, "longest": longest, "chance": chances[1]}
        wait = across_days(looked_at, planned, **across)

    plan = explain_wait(
        ADAPTS, ExplainedWait(age, pace, wait, looked_at), room=StretchesThen(windows, money)
    )

    spread = 2 * (0.05 * wait + TOLERANCE_S)
    assert not any(other in plan for other in (EARLIER, PUT_OFF))
    assert (plan == CLOSES) <= (money > 1 and wait < planned)
    assert ("windows" in plan) <= (
        adapted_wait(age, pace, bounds, windows) > adapted_wait(age, pace, bounds)
    )
    assert ("budgets" in plan) <= (money > 1 and wait > planned)
    if plan.endswith(("may be missed.", "interval is 1 minute.", "interval is 3 hours.")):
        assert wait == pytest.approx(adapted_wait(age, pace, bounds), abs=spread)
