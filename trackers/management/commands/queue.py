"""The queues, for a person at a terminal: are all keys where a claim finds them, or isolated?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from trackers.history import by_command
from trackers.jobs.acts import mend_queue, retry_isolated
from trackers.jobs.audit import Audit, audit_queue
from trackers.jobs.models import job_classes
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.management.status_lines import how_many


class Command(ActionsCommand):
    help = "Check where the keys of every queue are, and try isolated ones again."

    def add_actions(self, add_action: AddAction) -> None:
        check = add_action("check", help="exit with status 1 if something is wrong")
        check.add_argument("--mend", action="store_true", help="repair what is wrong")
        add_action("retry", help="try isolated keys again, of every queue")

    def do_check(self, options: Mapping[str, Any]) -> None:
        is_sound = True
        for name in sorted(job_classes()):
            result = (
                mend_queue(name, by_command()) if options["mend"] else audit_queue(name, mend=False)
            )
            is_sound = is_sound and result.is_sound
            self.show(
                {"queue": name, **asdict(result)},
                describe_audit(name, result, mended=options["mend"]),
            )
        if not (is_sound or options["mend"]):
            raise SystemExit(1)

    def do_retry(self, options: Mapping[str, Any]) -> None:
        for name in sorted(job_classes()):
            done = retry_isolated(name, by_command())
            self.show({"queue": name, "retried": done.count}, done.message)


def describe_audit(name: str, result: Audit, *, mended: bool) -> str:
    summary = (
        f"{name}: {how_many(result.jobs, 'keys', 'key')} in"
        f" {how_many(result.buckets, 'buckets', 'bucket')}, {result.lost:,} lost,"
        f" {result.doubled:,} doubled, {how_many(result.dead, 'dead entries', 'dead entry')}"
    )
    return f"{summary}; repaired" if mended and not result.is_sound else summary
