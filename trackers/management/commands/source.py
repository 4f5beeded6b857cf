"""`manage.py source`: what is watched, added and changed by the rules of the page's form."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from trackers import history
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.only_here import brought, only_here
from trackers.ingest.sources.standing import standings
from trackers.management.sources import (
    KINDS,
    PRIORITIES,
    USAGE,
    add,
    change,
    facts,
    found,
    given,
    sentence,
)
from trackers.management.untracking import Interrupted, all_of, sure, tweets, untrack
from tweetwatch.interrupts import INTERRUPTED


class Command(BaseCommand):
    help = (
        "Add, list, change, pause, resume or remove sources (docs/sources.md); `poll ID` polls "
        "one. A query that begins with a minus stands behind --."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        new = actions.add_parser("add", help="watch one more; it is polled at once")
        new.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
        new.add_argument("words", nargs="+", metavar="OF", help="as @nasa, or a query")
        add_knobs(new)
        actions.add_parser("list", help="all of them, and how they stand")
        edit = actions.add_parser("change", help="what is not named stays as it is")
        edit.add_argument("id", metavar="ID")
        edit.add_argument("--of", help="what it is of; another account or query begins anew")
        add_knobs(edit)
        for name, what in (
            ("pause", "read nothing of them until they are resumed"),
            ("resume", "read them again, beginning now"),
            ("remove", "forget them; their tweets stay tracked"),
        ):
            actions.add_parser(name, help=what).add_argument("ids", nargs="+", metavar="ID")
        remove = actions.choices["remove"]
        remove.add_argument(
            "--with-tweets",
            action="store_true",
            help="untrack the tweets that came from nowhere else, with their histories",
        )
        remove.add_argument("--dry-run", action="store_true", help="count them, and do nothing")
        remove.add_argument("--yes", action="store_true", help="do not ask at a terminal")
        for action in actions.choices.values():
            action.add_argument("--json", action="store_true", help="print one object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        act: Callable[[Mapping[str, Any]], None] = getattr(self, f"do_{options['action']}")
        act(options)

    def do_add(self, options: Mapping[str, Any]) -> None:
        source = add(options["kind"], " ".join(options["words"]), given(options))
        history.record_command([source], "Added.", flag=history.ADDITION)
        self.show([source], options)

    def do_list(self, options: Mapping[str, Any]) -> None:
        sources = list(Source.objects.all())
        if not sources:
            self.say("There is no source yet: `manage.py source add account nasa` adds one.")
        self.show(sources, options)

    def do_change(self, options: Mapping[str, Any]) -> None:
        [source] = found([options["id"]])
        fields = given(options)
        if not fields:
            raise CommandError("Say what to change: --every, --pages …", returncode=USAGE)
        if change(source, fields):
            history.record_command([source], f"Changed {', '.join(sorted(fields))}.")
        else:
            self.say("It was like that already.")
        source.refresh_from_db()
        self.show([source], options)

    def do_pause(self, options: Mapping[str, Any]) -> None:
        self.each(options, life.pause, "Paused", "{} was paused already.")

    def do_resume(self, options: Mapping[str, Any]) -> None:
        self.each(options, life.resume, "Resumed", "{} was not paused.")

    def do_remove(self, options: Mapping[str, Any]) -> None:
        sources = found(options["ids"])
        for source in sources:
            self.remove(source, options)

    def each(
        self, options: Mapping[str, Any], act: Callable[[Sequence[int]], int], done: str, not_: str
    ) -> None:
        sources = found(options["ids"])
        for source in sources:
            if act([source.pk]):
                history.record_command([source], f"{done}.")
                self.say(f"{done} {source}.")
            else:
                self.say(not_.format(source))
        if options["json"]:
            self.show(found(options["ids"]), options)

    def remove(self, source: Source, options: Mapping[str, Any]) -> None:
        with_tweets = options["with_tweets"]
        rows = only_here(source).values_list("pk", flat=True)
        if options["dry_run"]:
            of_it, alone = brought(source).count(), rows.count()
            told = {"id": str(source.pk), "tweets": of_it, "only_from_there": alone}
            self.tell(
                options,
                told,
                f"{tweets(of_it)} came from {source}, {alone:,} of them from nowhere else.",
            )
            return
        untracked = 0
        if with_tweets:
            # Paused first, so that nothing comes while the others go.
            count = rows.count()
            sure(f"Remove {source} and untrack {tweets(count)}?", yes=options["yes"])
            life.pause([source.pk])
            self.say(f"Untracking {tweets(count)} of {source}.")
            try:
                untracked = untrack(all_of(rows.iterator(chunk_size=10_000)))
            except Interrupted as interrupted:
                self.say(
                    f"Interrupted: {interrupted.done:,} of {tweets(count)} are untracked. {source} "
                    "is paused and still there; run this again to go on."
                )
                sys.exit(INTERRUPTED)
        name = str(source)
        history.record_command([source], "Removed.", flag=history.DELETION)
        life.remove([source.pk])
        more = f" and untracked {tweets(untracked)}" if with_tweets else "; its tweets stay tracked"
        told = {"id": str(source.pk), "removed": name, "untracked": untracked}
        self.tell(options, told, f"Removed {name}{more}.")

    def show(self, sources: Sequence[Source], options: Mapping[str, Any]) -> None:
        for standing in standings(sources, now=timezone.now()):
            self.stdout.write(
                json.dumps(facts(standing)) if options["json"] else sentence(standing)
            )

    def tell(self, options: Mapping[str, Any], told: Mapping[str, Any], sentence: str) -> None:
        self.stdout.write(json.dumps(told) if options["json"] else sentence)

    def say(self, sentence: str) -> None:
        self.stderr.write(sentence, lambda text: text)


def add_knobs(parser: ArgumentParser) -> None:
    parser.add_argument("--every", help="from one poll to the next, as 90s, 5m or 1h 30m")
    parser.add_argument("--pages", help="pages of 100 posts a poll, at the most")
    parser.add_argument("--backfill", help="how far back the first poll reads, as 1d, or all")
    parser.add_argument("--late-by", help="how late a post may appear and still be found at once")
    parser.add_argument("--owner", help="whose source it is: a tag of your own")
    parser.add_argument("--priority", choices=PRIORITIES)
    for what in ("replies", "retweets"):
        for how, action in (("without", "store_true"), ("with", "store_false")):
            parser.add_argument(
                f"--{how}-{what}", dest=f"exclude_{what}", action=action, default=None
            )
