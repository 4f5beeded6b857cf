"""How much longer waits are now, and why, in sentences for pages and the terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from trackers.schedule.durations import spell_share
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch
from trackers.schedule.stretch.days import MAX_DAY_STRETCH as MOST_DAYS
from trackers.schedule.stretch.solve import MAX_STRETCH, MAX_WINDOW_FILL

ALL_FIXED = (
    "All intervals are fixed, so no wait is stretched. To let them adapt, give them an accuracy "
    "in Admin → Intervals."
)
NOT_COMPUTED = "Not worked out yet: a running qcluster does so once a minute."
NO_WINDOWS = "X has not reported its rate limits yet, so no wait is stretched for them."
ROOM_FOR_ALL = "X's windows have room for all look-ups."
NO_BUDGET = "No budget limits the tweet-days."
MONEY_FOR_ALL = "The budgets have money for all tweet-days."
# Below this a page shows 1.00.
VISIBLE = 1.005


def sentences(plan: Plan, row: Stretch | None) -> Iterator[str]:
    """The present stretches, for windows and for money, and the accuracy that results."""
    if not plan.adapts:
        yield ALL_FIXED
        return
    if row is None or row.taken_at is None:
        yield NOT_COMPUTED
        return
    yield of_windows(row)
    yield _of_money(row)
    yield _accuracy(plan, row.windows)


def of_windows(row: Stretch) -> str:
    if not row.room:
        return NO_WINDOWS
    if row.windows < VISIBLE:
        return ROOM_FOR_ALL
    share = room(row)
    if row.windows >= MAX_STRETCH or share is None:
        return (
            "X's windows have room for fewer look-ups than the intervals need at least, so the "
            "oldest are late."
        )
    if share >= 1:
        # There is room for all look-ups, but not for the backlog too.
        return (
            f"Waits are {times(row.windows)} as long, to make up for {row.backlog:,} overdue "
            "look-ups."
        )
    return (
        f"Waits are {times(row.windows)} as long, since X's windows have room for "
        f"{100 * share:.0f}% of the look-ups."
    )


def _of_money(row: Stretch) -> str:
    if row.days_room is None:
        return NO_BUDGET
    if row.money < VISIBLE:
        return MONEY_FOR_ALL
    share = f"{100 * row.days_room / row.days_demand:.0f}% of " if row.days_demand else ""
    budget = f" ({row.budget})" if row.budget else ""
    if row.money >= MOST_DAYS:
        return (
            f"The budgets have money for {share}the tweet-days{budget}, fewer than the intervals "
            "need at least, so the oldest tweets wait for another UTC day."
        )
    return (
        f"Waits that end on another UTC day are {times(row.money)} as long, since the budgets have "
        f"money for {share}the tweet-days{budget}."
    )


def room(row: Stretch) -> float | None:
    """The share of the look-ups for which there is room: windows are filled to 85 % at most."""
    return MAX_WINDOW_FILL * row.room / row.demand if row.room and row.demand else None


def times(stretch: float) -> str:
    places = 0 if stretch >= 10 else 1 if stretch >= 1.05 else 2
    return f"{stretch:.{places}f} ×"


def _accuracy(plan: Plan, stretch: float) -> str:
    """For example: 5% asked, 7% at the present stretch."""
    asked = [tier.bounds.accuracy for tier in plan.tiers if tier.bounds]
    least, most = min(asked), max(asked)
    asked_for = _between(least, most)
    if stretch < VISIBLE:
        return f"Accuracy: {asked_for} asked, and kept."
    return (
        f"Accuracy: {asked_for} asked, {_between(least * stretch, most * stretch)} at this stretch."
    )


def _between(least: float, most: float) -> str:
    return _share(least) if _share(least) == _share(most) else f"{_share(least)} to {_share(most)}"


def _share(of: float) -> str:
    """In whole percent, or two digits below ten: 5%, 7.2%."""
    rounded = round(of, 2) if of >= 0.1 else round(of, 3)
    return spell_share(rounded)
