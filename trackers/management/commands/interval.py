from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from trackers import history
from trackers.management.untracking import sure
from trackers.schedule.cost_words import Estimate, estimate
from trackers.schedule.durations import parse, spell
from trackers.schedule.models import Interval
from trackers.schedule.replace import replace
from trackers.schedule.replan import replan
from trackers.schedule.validate import JITTER, Row, faults

USAGE = 2


class Command(BaseCommand):
    help = "List or replace the intervals: how often is a tweet of which age looked up?"

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        actions.add_parser("list", help="the intervals as they are")
        put = actions.add_parser("set", help="replace the whole list, in one transaction")
        put.add_argument("rows", nargs="+", metavar="AGE=EVERY", help="as in 18m=60s 1d=1h")
        put.add_argument("--jitter", type=float, help="for every row; else kept, or 0.05")
        put.add_argument(
            "--replan", action="store_true", help="have the workers re-plan what is scheduled"
        )
        put.add_argument(
            "--dry-run", action="store_true", help="say what it would cost, and change nothing"
        )
        put.add_argument("--yes", action="store_true", help="do not ask, whatever it costs")
        for action in actions.choices.values():
            action.add_argument("--json", action="store_true", help="print one object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        act: Callable[[Mapping[str, Any]], None] = getattr(self, f"do_{options['action']}")
        act(options)

    def do_list(self, options: Mapping[str, Any]) -> None:
        for interval in Interval.objects.all():
            self.stdout.write(json.dumps(told(interval)) if options["json"] else sentence(interval))

    def do_set(self, options: Mapping[str, Any]) -> None:
        try:
            lengths = [pair(text) for text in options["rows"]]
        except ValueError as error:
            raise CommandError(str(error), returncode=USAGE) from None
        before = {row.younger_than: row for row in Interval.objects.all()}
        rows = [row_for(*each, before=before, jitter=options["jitter"]) for each in lengths]
        if found := faults(rows):
            raise CommandError(" ".join(found), returncode=USAGE)
        costs = estimate(rows)
        if options["dry_run"]:
            self.stdout.write(json.dumps(costs_told(costs)) if options["json"] else words(costs))
            return
        if costs.change.is_large and not options["yes"]:
            self.say(words(costs))
            confirm(f"Ask for {costs.change.times:.1f} times as much as now?")
        replace(rows)
        history.record_command(Interval, "Replaced the list.", count=len(rows))
        self.do_list(options)
        if options["replan"]:
            replan()
            history.record_command(Interval, "Re-planned what is scheduled.", count=len(rows))
            self.say(
                "The workers re-plan what is scheduled; the intervals’ page in the admin tells how "
                "far they are. Without a cluster it waits until one runs."
            )
        else:
            self.say(
                "In force with each tweet's next look-up; --replan moves what is scheduled as well."
            )

    def say(self, sentence: str) -> None:
        self.stderr.write(sentence, lambda text: text)


def pair(text: str) -> tuple[timedelta, timedelta]:
    younger_than, equals, every = text.partition("=")
    if not equals:
        raise ValueError(f"“{text}” is no AGE=EVERY: write it as 18m=60s.")
    return parse(younger_than), parse(every)


def row_for(
    younger_than: timedelta,
    every: timedelta,
    *,
    before: Mapping[timedelta, Interval],
    jitter: float | None,
) -> Row:
    """A row keeps the jitter of the old one with its bound, unless all are given a new one."""
    if jitter is None:
        jitter = before[younger_than].jitter if younger_than in before else JITTER
    return Row(younger_than, every, jitter)


def words(costs: Estimate) -> str:
    return "\n".join(f"{line.what}: {line.now} now, {line.after} then." for line in costs.lines)


def costs_told(costs: Estimate) -> dict[str, object]:
    return {
        "times": round(costs.change.times, 3),
        "before": asdict(costs.change.before),
        "after": asdict(costs.change.after),
    }


def confirm(question: str) -> None:
    """A person says yes; a program says --yes."""
    if not sys.stdin.isatty():
        raise CommandError(f"{question} Say so with --yes. Nothing was changed.", returncode=USAGE)
    sure(question, yes=False)


def told(interval: Interval) -> dict[str, object]:
    return {
        "younger_than": spell(interval.younger_than),
        "every": spell(interval.every),
        "younger_than_seconds": interval.younger_than.total_seconds(),
        "every_seconds": interval.every.total_seconds(),
        "jitter": interval.jitter,
        "enabled": interval.enabled,
    }


def sentence(interval: Interval) -> str:
    disabled = "" if interval.enabled else ", disabled"
    return (
        f"younger than {spell(interval.younger_than)}: every {spell(interval.every)}, "
        f"jitter {interval.jitter:g}{disabled}"
    )
