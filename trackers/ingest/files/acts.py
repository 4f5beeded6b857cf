"""What is done to an uploaded file, by whom: each act is in the history."""

from __future__ import annotations

from typing import BinaryIO

from django.template.defaultfilters import pluralize

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.ingest.files import importing, upload
from trackers.ingest.files.limits import Limits
from trackers.ingest.found import UnreadableError
from trackers.ingest.sources.imports import Import

NOT_NOW = "This is not possible now: the import was started already."


def store(file: BinaryIO, actor: Actor, *, name: str, size: int, limits: Limits) -> Import:
    """Keep a file for its preview; nothing is imported yet. Raises UnreadableError."""
    owner = actor.user.get_username()
    report = upload.upload_file(file, name=name, owner=owner, size=size, limits=limits)
    history.record(actor, [report.source], "Uploaded", flag=history.ADDITION)
    return report


def start(report: Import, actor: Actor, *, column: int | None, referenced: bool) -> Done:
    """Import it; `column` counts from 1."""
    try:
        if not importing.start(report, column=column, referenced=referenced):
            return Done(NOT_NOW, is_done=False)
    except UnreadableError as fault:
        return Done(str(fault), is_done=False)
    history.record(actor, [report.source], "Import started")
    return Done(f"{report.source}: Import started.", report.parts)


def try_again(report: Import, actor: Actor) -> Done:
    """Put the parts that failed back into the queue; `count`: how many."""
    parts = importing.try_again(report)
    if not parts:
        return Done(f"{report.source}: No part has failed.", is_done=False)
    history.record(actor, [report.source], f"Tried {parts:,} parts again")
    return Done(f"{parts:,} part{pluralize(parts)} will be tried again.", parts)


def discard(report: Import, actor: Actor) -> Done:
    """Forget a file that was never started."""
    source = report.source
    name = str(source)
    if not importing.discard(report):
        return Done(NOT_NOW, is_done=False)
    history.record(actor, [source], "Discarded", flag=history.DELETION)
    return Done(f"{name} was discarded; nothing was imported.")
