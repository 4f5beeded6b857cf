"""The queues, for a person at a terminal: is every key where a claim will find it?"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from trackers import history
from trackers.history import by_command
from trackers.jobs.audit import Audit, audit
from trackers.jobs.models import Namespace, namespaces
from trackers.management.pageless import PagelessCommand
from trackers.management.status_words import how_many


class Command(PagelessCommand):
    help = "Check that every key of every queue is in exactly one bucket or claim."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        check = actions.add_parser("check", help="exit with status 1 if something is wrong")
        check.add_argument("--mend", action="store_true", help="repair what is wrong")
        check.add_argument("--json", action="store_true", help="print JSON Lines")

    def handle(self, *args: Any, **options: Any) -> None:
        is_sound = True
        for name in sorted(namespaces()):
            told = audit(name, mend=options["mend"])
            is_sound = is_sound and told.is_sound
            if options["mend"] and not told.is_sound:
                mended = list(Namespace.objects.filter(pk=name))
                history.record(by_command(), mended, "Repaired its queue")
            self.stdout.write(
                json.dumps({"namespace": name, **asdict(told)})
                if options["json"]
                else sentence(name, told, mended=options["mend"])
            )
        if not (is_sound or options["mend"]):
            raise SystemExit(1)


def sentence(name: str, told: Audit, *, mended: bool) -> str:
    found = (
        f"{name}: {how_many(told.jobs, 'keys', 'key')} in"
        f" {how_many(told.buckets, 'buckets', 'bucket')}, {told.lost:,} lost,"
        f" {told.doubled:,} doubled, {how_many(told.dead, 'dead entries', 'dead entry')}"
    )
    return f"{found}; repaired" if mended and not told.is_sound else found
