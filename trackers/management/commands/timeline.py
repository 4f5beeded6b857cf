from __future__ import annotations

import base64
import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from trackers import history
from trackers.history import by_command
from trackers.management.pageless import PagelessCommand
from trackers.timelines import homes, store
from trackers.timelines.acts import rebuild_all
from trackers.timelines.listing import TimelineRow, listing, peek
from trackers.timelines.models import Follower, Timeline
from tweetwatch.command_line import EXIT_USAGE


class Command(PagelessCommand):
    help = "Show, rebuild, expire, snapshot or restore timelines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        show = actions.add_parser(
            "show",
            help="list the timelines, or show what is in one (this does not count as a read)",
        )
        show.add_argument("name", nargs="?", help="such as home:1; without a name, list all")
        show.add_argument("--offset", type=int, default=0, help="entries to skip, from the newest")
        show.add_argument("--limit", type=int, default=50)
        show.add_argument("--prefix", default="", help="list only names that start with this")
        show.add_argument("--after", default="", metavar="NAME", help="list names after this one")
        show.add_argument(
            "--dedupe", action="store_true", help="show only the original of retweets"
        )
        rebuild = actions.add_parser("rebuild", help="rebuild homes by the current settings")
        rebuild.add_argument(
            "followers", nargs="*", type=int, metavar="FOLLOWER", help="id of a follower"
        )
        rebuild.add_argument(
            "--all", action="store_true", help="all recently viewed homes, in the background"
        )
        expire = actions.add_parser(
            "expire",
            help="remove timelines that have not been read for a long time, and old tombstones",
        )
        expire.add_argument("--days", type=float, help="instead of TIMELINE_IDLE_DAYS")
        for name, help in (("snapshot", "save all to a file"), ("restore", "load a file")):
            action = actions.add_parser(name, help=help)
            action.add_argument("file", metavar="FILE", help="- for standard input or output")
        for action in actions.choices.values():
            action.add_argument("--json", action="store_true", help="print JSON Lines")

    def handle(self, *args: Any, **options: Any) -> None:
        act: Callable[[Mapping[str, Any]], None] = getattr(self, f"do_{options['action']}")
        try:
            act(options)
        except store.TimelineMissing as missing:
            raise CommandError(str(missing)) from None
        except store.SnapshotError as fault:
            raise CommandError(f"Nothing was changed. {fault}") from None
        except ValueError as fault:
            raise CommandError(str(fault), returncode=EXIT_USAGE) from None
        except BrokenPipeError:
            raise
        except OSError as fault:
            if options["action"] == "snapshot" and options["file"] == "-":
                raise
            raise CommandError(f"{options.get('file')}: {fault.strerror or fault}") from None

    def do_show(self, options: Mapping[str, Any]) -> None:
        if options["name"] is None:
            timelines = listing(
                prefix=options["prefix"], after=options["after"], limit=options["limit"]
            )
            for timeline in timelines:
                text = (
                    json.dumps(_timeline_json(timeline))
                    if options["json"]
                    else _describe_timeline(timeline)
                )
                self.stdout.write(text)
            return
        ask = store.Ask(
            options["name"], options["offset"], options["limit"], dedupe=options["dedupe"]
        )
        for entry in peek(ask):
            self.stdout.write(
                json.dumps(_entry_json(entry)) if options["json"] else _describe_entry(entry)
            )

    def do_rebuild(self, options: Mapping[str, Any]) -> None:
        chosen = sorted(set(options["followers"]))
        if bool(chosen) == options["all"]:
            raise CommandError("Give the ids of followers, or --all.", returncode=EXIT_USAGE)
        if options["all"]:
            done = rebuild_all(by_command())
            self.report(options, {"enqueued": done.count}, done.message)
            return
        known = set(Follower.objects.filter(pk__in=chosen).values_list("pk", flat=True))
        if unknown := [str(id) for id in chosen if id not in known]:
            raise CommandError(f"Nothing was changed: there is no follower {', '.join(unknown)}.")
        for follower_id in chosen:
            homes.rebuild(follower_id)
        history.record_many(by_command(), Follower, len(chosen), "Rebuilt homes")
        self.report(options, {"rebuilt": len(chosen)}, f"Rebuilt {len(chosen)} homes.")

    def do_expire(self, options: Mapping[str, Any]) -> None:
        days = settings.TIMELINE_IDLE_DAYS if options["days"] is None else options["days"]
        try:
            idle = timedelta(days=days)
        except (OverflowError, ValueError):
            raise CommandError(f"{days} is not a number of days.", returncode=EXIT_USAGE) from None
        if days < 0:
            raise CommandError(f"{days:g} days is negative. Give 0 or more.", returncode=EXIT_USAGE)
        expired = store.expire(idle)
        history.record_many(by_command(), Timeline, expired, "Expired", flag=history.DELETION)
        self.report(
            options,
            {"expired": expired, "tombstone_days": settings.TIMELINE_TOMBSTONE_DAYS},
            f"Expired {expired} timelines not read for {days:g} days. Their tombstones "
            f"are kept for another {settings.TIMELINE_TOMBSTONE_DAYS} days.",
        )

    def do_snapshot(self, options: Mapping[str, Any]) -> None:
        to_stdout = options["file"] == "-"
        timelines = store.snapshot(sys.stdout.buffer if to_stdout else options["file"])
        sentence = f"Saved {timelines} timelines."
        if to_stdout:
            sys.stdout.buffer.flush()
            self.stderr.write(sentence, lambda text: text)
        else:
            self.report(options, {"timelines": timelines}, sentence)

    def do_restore(self, options: Mapping[str, Any]) -> None:
        file = sys.stdin.buffer if options["file"] == "-" else options["file"]
        timelines = store.restore(file)
        history.record_many(by_command(), Timeline, timelines, "Restored from a snapshot")
        self.report(
            options,
            {"timelines": timelines},
            f"Restored {timelines} timelines, except what was deleted since.",
        )

    def report(self, options: Mapping[str, Any], result: dict[str, int], sentence: str) -> None:
        self.stdout.write(json.dumps(result) if options["json"] else sentence)


def _timeline_json(timeline: TimelineRow) -> dict[str, object]:
    read_at = timeline.last_read_at.isoformat()
    return {"name": timeline.name, "live": timeline.live, "size": timeline.size, "read_at": read_at}


def _describe_timeline(timeline: TimelineRow) -> str:
    if not timeline.live:
        return f"{timeline.name}  missing, with tombstones"
    read_at = timeline.last_read_at.isoformat(sep=" ", timespec="minutes")
    return f"{timeline.name}  {timeline.size} entries, read {read_at}"


def _entry_json(entry: store.Entry) -> dict[str, str | None]:
    secondary = None if entry.secondary is None else str(entry.secondary)
    metadata = base64.b64encode(entry.metadata).decode()
    return {"id": str(entry.id), "secondary": secondary, "metadata": metadata}


def _describe_entry(entry: store.Entry) -> str:
    of = "" if entry.secondary is None else f"  of {entry.secondary}"
    text = entry.metadata.decode("utf-8", "backslashreplace")
    printable = re.sub(r"[^\x20-\x7e]", lambda match: repr(match[0])[1:-1], text)
    return f"{entry.id}{of}  {printable}".rstrip()
