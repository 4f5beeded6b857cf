"""The whole list of intervals is replaced, once what costs much more is confirmed; then what is
scheduled can be re-planned by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from django.core.exceptions import ValidationError
from django.db import transaction

from trackers import history
from trackers.acts import Done
from trackers.forecasts.cost_words import Estimate, estimate
from trackers.history import Actor
from trackers.schedule.models import Interval
from trackers.schedule.replan import replan
from trackers.schedule.validate import IntervalRow, faults


class Unconfirmed(Exception):
    """The list asks X for more than twice as much, and nobody has confirmed that."""

    def __init__(self, estimate: Estimate) -> None:
        super().__init__(estimate.question)
        self.estimate = estimate


def weigh_cost(rows: Sequence[IntervalRow], *, is_confirmed: bool) -> Estimate:
    """What the list costs, compared with the current one. Every door asks here before it saves.

    Raises ValidationError where the rows make no sense, and Unconfirmed.
    """
    if sentences := faults(rows):
        raise ValidationError(sentences)
    costs = estimate(rows)
    if costs.change.is_large and not is_confirmed:
        raise Unconfirmed(costs)
    return costs


def set_intervals(
    rows: Sequence[IntervalRow],
    actor: Actor,
    *,
    is_confirmed: bool,
    unless: Callable[[list[Interval]], bool] = lambda _: False,
) -> Done:
    """Set all rows or none. Nothing is done if `unless` is true of the current ones.

    Raises as `weigh` does.
    """
    with transaction.atomic():
        # Locked, so that two lists set at the same time are not mixed; then read, since the rows
        # may have been replaced while this waited for the lock.
        list(Interval.objects.select_for_update())
        if unless(list(Interval.objects.all())):
            return Done("The intervals have changed meanwhile.", is_done=False)
        weigh_cost(rows, is_confirmed=is_confirmed)
        Interval.objects.all().delete()
        Interval.objects.bulk_create(Interval(**asdict(row)) for row in rows)
    history.record_many(actor, Interval, len(rows), "Replaced the intervals")
    return Done(
        "Takes effect after each tweet's next look-up. Re-planning reschedules that one too.",
        len(rows),
    )


def replan_all(actor: Actor) -> Done:
    """Have the workers move what is scheduled to the current intervals."""
    replan()
    history.record_many(
        actor, Interval, Interval.objects.count(), "Re-planned the scheduled look-ups"
    )
    return Done(
        "The workers are re-planning all scheduled look-ups by the current intervals, youngest "
        "tweets first. The admin's page of intervals shows their progress."
    )
