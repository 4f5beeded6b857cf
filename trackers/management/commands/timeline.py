from __future__ import annotations

import base64
import re
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from trackers.history import by_command
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.timelines import store
from trackers.timelines.acts import expire_idle, rebuild_all, rebuild_now, restore
from trackers.timelines.models import Follower
from trackers.timelines.reads import TimelineRow, listing, peek
from tweetwatch.command_line import EXIT_USAGE


class Command(ActionsCommand):
    help = "Show, rebuild, expire, snapshot or restore timelines."

    def add_actions(self, add_action: AddAction) -> None:
        show = add_action(
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
        rebuild = add_action("rebuild", help="rebuild homes by the current settings")
        rebuild.add_argument(
            "followers", nargs="*", type=int, metavar="FOLLOWER", help="id of a follower"
        )
        rebuild.add_argument(
            "--all", action="store_true", help="all recently viewed homes, in the background"
        )
        expire = add_action(
            "expire",
            help="remove timelines that have not been read for a long time, and old tombstones",
        )
        expire.add_argument("--days", type=float, help="instead of TIMELINE_IDLE_DAYS")
        for name, help in (("snapshot", "save all to a file"), ("restore", "load a file")):
            action = add_action(name, help=help)
            action.add_argument("file", metavar="FILE", help="- for standard input or output")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
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
                self.show(_timeline_json(timeline), _describe_timeline(timeline))
            return
        ask = store.Ask(
            options["name"], options["offset"], options["limit"], dedupe=options["dedupe"]
        )
        for entry in peek(ask):
            self.show(_entry_json(entry), _describe_entry(entry))

    def do_rebuild(self, options: Mapping[str, Any]) -> None:
        chosen = sorted(set(options["followers"]))
        if bool(chosen) == options["all"]:
            raise CommandError("Give the ids of followers, or --all.", returncode=EXIT_USAGE)
        if options["all"]:
            done = rebuild_all(by_command())
            self.show({"enqueued": done.count}, done.message)
            return
        known = Follower.objects.in_bulk(chosen)
        if unknown := [str(id) for id in chosen if id not in known]:
            raise CommandError(f"Nothing was changed: there is no follower {', '.join(unknown)}.")
        done = rebuild_now(list(known.values()), by_command())
        self.show({"rebuilt": done.count}, done.message)

    def do_expire(self, options: Mapping[str, Any]) -> None:
        days = settings.TIMELINE_IDLE_DAYS if options["days"] is None else options["days"]
        try:
            idle = timedelta(days=days)
        except (OverflowError, ValueError):
            raise CommandError(f"{days} is not a number of days.", returncode=EXIT_USAGE) from None
        if days < 0:
            raise CommandError(f"{days:g} days is negative. Give 0 or more.", returncode=EXIT_USAGE)
        done, kept = expire_idle(idle, by_command()), settings.TIMELINE_TOMBSTONE_DAYS
        self.show({"expired": done.count, "tombstone_days": kept}, done.message)

    def do_snapshot(self, options: Mapping[str, Any]) -> None:
        to_stdout = options["file"] == "-"
        timelines = store.snapshot(sys.stdout.buffer if to_stdout else options["file"])
        sentence = f"Saved {timelines} timelines."
        if to_stdout:
            sys.stdout.buffer.flush()
            self.say(sentence)
        else:
            self.show({"timelines": timelines}, sentence)

    def do_restore(self, options: Mapping[str, Any]) -> None:
        file = sys.stdin.buffer if options["file"] == "-" else options["file"]
        done = restore(file, by_command())
        self.show({"timelines": done.count}, done.message)


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
