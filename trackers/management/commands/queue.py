"""The queues, for a person at a terminal: is every key where a claim will find it?"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from trackers import history
from trackers.history import by_command
from trackers.jobs.audit import Audit, audit_queue
from trackers.jobs.models import Queue, job_classes
from trackers.management.pageless import PagelessCommand
from trackers.management.status_lines import how_many


class Command(PagelessCommand):
    help = "Check that every key of every queue is in exactly one bucket or claim."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        check = actions.add_parser("check", help="exit with status 1 if something is wrong")
        check.add_argument("--mend", action="store_true", help="repair what is wrong")
        check.add_argument("--json", action="store_true", help="print JSON Lines")

    def handle(self, *args: Any, **options: Any) -> None:
        is_sound = True
        for name in sorted(job_classes()):
            result = audit_queue(name, mend=options["mend"])
            is_sound = is_sound and result.is_sound
            if options["mend"] and not result.is_sound:
                mended = list(Queue.objects.filter(pk=name))
                history.record(by_command(), mended, "Repaired its queue")
            self.stdout.write(
                json.dumps({"queue": name, **asdict(result)})
                if options["json"]
                else describe_audit(name, result, mended=options["mend"])
            )
        if not (is_sound or options["mend"]):
            raise SystemExit(1)


def describe_audit(name: str, result: Audit, *, mended: bool) -> str:
    summary = (
        f"{name}: {how_many(result.jobs, 'keys', 'key')} in"
        f" {how_many(result.buckets, 'buckets', 'bucket')}, {result.lost:,} lost,"
        f" {result.doubled:,} doubled, {how_many(result.dead, 'dead entries', 'dead entry')}"
    )
    return f"{summary}; repaired" if mended and not result.is_sound else summary
