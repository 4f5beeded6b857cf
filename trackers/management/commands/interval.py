from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError

from trackers.acts import Done
from trackers.forecasts.cost import Cost
from trackers.forecasts.cost_words import Estimate
from trackers.forecasts.replace import Unconfirmed, replan_all, set_intervals, weigh_cost
from trackers.history import by_command
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.management.untracking import confirm_or_stop
from trackers.schedule.durations import parse, percentage, spell
from trackers.schedule.models import Interval
from trackers.schedule.validate import DEFAULT_JITTER, IntervalRow
from tweetwatch.command_line import EXIT_USAGE


class Command(ActionsCommand):
    help = "List or replace the intervals: how often to look up a tweet of each age."

    def add_actions(self, add_action: AddAction) -> None:
        add_action("list", help="list the intervals")
        put = add_action("set", help="replace the whole list")
        put.add_argument(
            "rows",
            nargs="+",
            metavar="AGE=EVERY",
            help="like 18m=60s 1d=1h; 18m=20s..5m@5%% adapts: at most every 20 s, at least every "
            "5 min, no more than 5 %% missed",
        )
        put.add_argument("--jitter", type=float, help="of every row; by default unchanged, or 0.05")
        put.add_argument(
            "--replan",
            action="store_true",
            help="also re-plan look-ups that are already scheduled",
        )
        put.add_argument(
            "--dry-run", action="store_true", help="show what it would cost, and change nothing"
        )
        put.add_argument("--yes", action="store_true", help="do not ask, whatever it costs")

    def do_list(self, options: Mapping[str, Any]) -> None:
        for interval in Interval.objects.all():
            self.show(_interval_json(interval), _describe_interval(interval))

    def do_set(self, options: Mapping[str, Any]) -> None:
        try:
            wanted = [_row_of(text) for text in options["rows"]]
        except ValueError as error:
            raise CommandError(str(error), returncode=EXIT_USAGE) from None
        before = {row.younger_than: row for row in Interval.objects.all()}
        rows = [_with_jitter(row, before=before, jitter=options["jitter"]) for row in wanted]
        if options["dry_run"]:
            costs = weigh_cost(rows, is_confirmed=True)
            self.show(_costs_json(costs), _describe_costs(costs))
            return
        done = self.replace(rows, is_confirmed=options["yes"])
        self.do_list(options)
        self.say(replan_all(by_command()).message if options["replan"] else done.message)

    def replace(self, rows: Sequence[IntervalRow], *, is_confirmed: bool) -> Done:
        try:
            return set_intervals(rows, by_command(), is_confirmed=is_confirmed)
        except Unconfirmed as asks:
            self.say(_describe_costs(asks.estimate))
            _confirm_costs(f"Ask X for {asks.estimate.change.times:.1f} times as much as now?")
        return set_intervals(rows, by_command(), is_confirmed=True)


def _row_of(text: str) -> IntervalRow:
    """18m=60s, or 18m=20s..5m@5%. Raises ValueError with a sentence."""
    age, equals, how = text.partition("=")
    if not equals:
        raise ValueError(f"“{text}” is not AGE=EVERY. Write it like 18m=60s, or 18m=20s..5m@5%.")
    between, at, share = how.partition("@")
    at_most, dots, at_least = between.partition("..")
    if not at and not dots:
        return IntervalRow(parse(age), parse(how))
    if not (at and dots):
        raise ValueError(
            f"“{text}” is only half of an adapting interval: write it as 18m=20s..5m@5%."
        )
    most, least = parse(at_most), parse(at_least)
    # If it is ever made a fixed row, it keeps the longest of its intervals.
    return IntervalRow(parse(age), least, accuracy=percentage(share), at_most=most, at_least=least)


def _with_jitter(
    row: IntervalRow, *, before: Mapping[timedelta, Interval], jitter: float | None
) -> IntervalRow:
    """A row keeps the jitter of the old one with its bound, unless all are given a new one."""
    if jitter is None:
        known = before.get(row.younger_than)
        jitter = known.jitter if known else DEFAULT_JITTER
    return dataclasses.replace(row, jitter=jitter)


def _describe_costs(costs: Estimate) -> str:
    lines = (
        f"{line.what}: {line.now}."
        if line.now == line.after
        else f"{line.what}: {line.now} now, {line.after} then."
        for line in costs.lines
    )
    return "\n".join([*lines, costs.assumption])


def _costs_json(costs: Estimate) -> dict[str, object]:
    return {
        "times": round(costs.change.times, 3),
        "before": _cost_json(costs.change.before),
        "after": _cost_json(costs.change.after),
    }


def _cost_json(cost: Cost) -> dict[str, object]:
    return {**asdict(cost), "money": float(cost.money)}


def _confirm_costs(question: str) -> None:
    """A person says yes; a program says --yes."""
    if not sys.stdin.isatty():
        raise CommandError(
            f"{question} Confirm with --yes. Nothing was changed.", returncode=EXIT_USAGE
        )
    confirm_or_stop(question, yes=False)


def _interval_json(interval: Interval) -> dict[str, object]:
    at_most, at_least = interval.at_most, interval.at_least
    return {
        "younger_than": spell(interval.younger_than),
        "every": spell(interval.every),
        "younger_than_seconds": interval.younger_than.total_seconds(),
        "every_seconds": interval.every.total_seconds(),
        "accuracy": interval.accuracy,
        "at_most_seconds": at_most.total_seconds() if at_most else None,
        "at_least_seconds": at_least.total_seconds() if at_least else None,
        "jitter": interval.jitter,
        "enabled": interval.enabled,
    }


def _describe_interval(interval: Interval) -> str:
    """As `set` reads it, then in words."""
    disabled = "" if interval.enabled else ", disabled"
    return f"{interval.written:24} {interval.words}, jitter {interval.jitter:g}{disabled}"
