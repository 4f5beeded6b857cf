"""What is done to uploaded files, and how people and programs track tweets: each act is in the
history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.ingest.files import importing, upload
from trackers.ingest.files.limits import Limits
from trackers.ingest.files.models import Import
from trackers.ingest.files.track_lines import TrackedLines, track_lines
from trackers.ingest.found_tweets import DoubtError, FoundTweet, Options, UnreadableError
from trackers.ingest.track_all import TrackedAll, track_all
from trackers.tweets.models import Tweet
from tweetwatch.amounts import amount

_NOT_NOW = "This is not possible now: the import was started already."


def store(
    file: BinaryIO, actor: Actor, *, name: str, size: int, limits: Limits, format: str = "auto"
) -> Import:
    """Keep a file for its preview; nothing is imported yet. Raises UnreadableError."""
    owner = actor.user.get_username()
    report = upload.upload_file(
        file, name=name, owner=owner, size=size, limits=limits, format=format
    )
    history.record(actor, [report.source], "Uploaded", flag=history.ADDITION)
    return report


def start(
    report: Import,
    actor: Actor,
    *,
    column: int | None,
    referenced: bool,
    paused: bool = False,
    chosen: Options | None = None,
) -> Done:
    """Import it; `column` counts from 1. `paused`: nothing of it is looked up until resumed."""
    how: dict[str, Any] = {"column": column, "referenced": referenced, "paused": paused}
    try:
        if not importing.start(report, **how, chosen=chosen):
            return Done(_NOT_NOW, is_done=False)
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
    return Done(f"{amount(parts, 'part')} will be tried again.", parts)


def discard(report: Import, actor: Actor) -> Done:
    """Forget a file that was never started."""
    source = report.source
    name = str(source)
    if not importing.discard(report):
        return Done(_NOT_NOW, is_done=False)
    history.record(actor, [source], "Discarded", flag=history.DELETION)
    return Done(f"{name} was discarded; nothing was imported.")


def track_pasted(lines: Iterable[str], actor: Actor, *, anyway: bool = False) -> TrackedLines:
    """Track the tweets that some pasted lines name. Raises DoubtError if they are probably none,
    unless they are tracked `anyway`."""
    pasted, came_from = list(lines), f"pasted by {actor.user}"
    try:
        done = track_lines(pasted, came_from=came_from, anyway=anyway)
    except DoubtError:
        raise
    except UnreadableError:
        # It looks like a table or a document, and is none with tweets: then each line says why.
        done = track_lines(pasted, came_from=came_from, format="ids")
    record_tracked(
        done.tracked,
        actor,
        f"Pasted {done.read:,} lines: {done.tracked:,} tracked, {done.already:,} already",
    )
    return done


def track_found(tweets: Sequence[FoundTweet], actor: Actor, *, came_from: str) -> TrackedAll:
    """Track these; `came_from` has a place for the user."""
    done = track_all(tweets, came_from=came_from.format(user=actor.user.get_username()))
    record_tracked(done.tracked, actor)
    return done


def record_tracked(count: int, actor: Actor, what: str = "Tracked") -> None:
    """Of a command, which reads endless input piece by piece: once, at its end."""
    history.record_many(actor, Tweet, count, what, flag=history.ADDITION)
