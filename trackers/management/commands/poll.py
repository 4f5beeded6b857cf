from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from trackers import history, tasks
from trackers.ingest.sources import life
from trackers.ingest.sources.life import claim
from trackers.ingest.sources.models import LEAST_EVERY, MOST_EVERY, Source, SourcePoll
from trackers.ingest.sources.naming import named
from trackers.ingest.sources.standing import Standing, standings
from trackers.jobs import queue
from trackers.management import status
from trackers.schedule.durations import parse, spell
from tweetwatch.clock_times import clock_time

USAGE = 2
ACTIONS = ("add", "pause", "resume", "remove")
PRIORITIES = {priority.name.lower(): priority.value for priority in Source.Priority}
# A longer wait is left to the cluster.
WAITS_FOR = timedelta(seconds=5)


class Command(BaseCommand):
    help = (
        "List the sources; poll some of them now, in this process, to the end of the poll; or add, "
        "pause, resume or remove some. A query that begins with a minus stands behind --."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "what",
            nargs="*",
            metavar="ID | add KIND OF | pause ID | resume ID | remove ID",
            help="nothing: the list; KIND: " + ", ".join(Source.POLLED) + ", stream",
        )
        parser.add_argument("--json", action="store_true", help="print one object a line")
        parser.add_argument("--every", help="of a new source: from one poll to the next, as 5m")
        parser.add_argument("--pages", type=int, help="pages of 100 posts a poll, at the most")
        parser.add_argument("--backfill", help="how far back the first poll reads, as 1d, or all")
        parser.add_argument("--owner", default="", help="whose source it is: a tag of your own")
        parser.add_argument("--priority", choices=PRIORITIES, default="normal")
        parser.add_argument("--without-replies", action="store_true")
        parser.add_argument("--without-retweets", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        action, *rest = options["what"] or [""]
        if action == "add":
            self.tell([add(rest, options)], as_json=options["json"])
        elif action in ACTIONS:
            self.act(action, found(rest))
        elif action:
            self.poll(found(options["what"]), as_json=options["json"])
        else:
            self.tell(list(Source.objects.all()), as_json=options["json"])

    def tell(self, sources: Sequence[Source], *, as_json: bool) -> None:
        """A line for each."""
        if not sources and not as_json:
            self.say("There is no source yet: manage.py poll add account nasa")
        for standing in standings(sources, now=timezone.now()):
            self.stdout.write(json.dumps(facts(standing)) if as_json else sentence(standing))

    def act(self, action: str, sources: Sequence[Source]) -> None:
        ids = [source.pk for source in sources]
        act = {
            "pause": life.pause,
            "resume": life.resume,
            "remove": life.remove,
        }[action]
        count = act(ids)
        if count:
            history.record_command(sources, f"{action.capitalize()}.")
        self.say(f"{action}: {count} of {len(ids)}.")

    def poll(self, sources: Sequence[Source], *, as_json: bool) -> None:
        done = [self.poll_one(source) for source in sources]
        self.tell(sources, as_json=as_json)
        if not any(done):
            sys.exit(1)

    def poll_one(self, source: Source) -> bool:
        """Poll it page by page to the end; whether it came to that."""
        if not source.is_polled or source.paused_at:
            self.say(f"{source} is {'paused' if source.paused_at else 'not polled'}.")
            return False
        if life.poll_now([source.pk]):
            history.record_command([source], "Polled now.")
        before = source.polled_at
        while source.polled_at == before:
            batch = claim(source.pk)
            if batch is None:
                # A worker has it.
                time.sleep(0.2)
            else:
                try:
                    polled = tasks.poll_and_tell(batch)
                except KeyboardInterrupt:
                    queue.release(batch)
                    raise
                self.say(f"{polled.source}: {polled.said}")
            source.refresh_from_db()
            if source.paused_at:
                self.say(f"{source} was paused meanwhile.")
                return False
            due_at = SourcePoll.objects.filter(key=source.pk).values_list("due_at", flat=True)
            wait = (due_at.first() or timezone.now()) - timezone.now()
            if batch is not None and source.polled_at == before:
                if wait > WAITS_FOR:
                    whole = timedelta(seconds=round(wait.total_seconds()))
                    self.say(f"{source} waits for {spell(whole)}.")
                    return False
                time.sleep(max(wait.total_seconds(), 0))
        return True

    def say(self, sentence: str) -> None:
        self.stderr.write(sentence, lambda text: text)


def add(words: Sequence[str], options: dict[str, Any]) -> Source:
    """A new source of these words; a mistake is told in a sentence."""
    kinds = [*Source.POLLED, Source.Kind.STREAM]
    if len(words) < 2 or words[0] not in kinds:
        raise CommandError(f"Write: poll add {'|'.join(kinds)} OF", returncode=USAGE)
    try:
        source = Source(kind=words[0], of=named(words[0], " ".join(words[1:])), **given(options))
        source.full_clean(validate_unique=False, validate_constraints=False)
        if not LEAST_EVERY <= source.every <= MOST_EVERY:
            raise ValueError(f"A source is polled every {LEAST_EVERY.seconds} s to 1 day.")
    except ValidationError as error:
        raise CommandError(" ".join(error.messages), returncode=USAGE) from None
    except ValueError as error:
        raise CommandError(str(error), returncode=USAGE) from None
    if same := Source.objects.filter(kind=source.kind, of=source.of).first():
        raise CommandError(f"It is a source already: {same.pk}, {same}.")
    life.add(source)
    history.record_command([source], "Added.", flag=history.ADDITION)
    return source


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The fields that were named."""
    fields: dict[str, Any] = {
        "owner": options["owner"],
        "priority": PRIORITIES[options["priority"]],
        "exclude_replies": options["without_replies"],
        "exclude_retweets": options["without_retweets"],
    }
    if options["every"]:
        fields["every"] = parse(options["every"])
    if options["pages"] is not None:
        fields["pages"] = options["pages"]
    if options["backfill"]:
        fields["backfill"] = None if options["backfill"] == "all" else parse(options["backfill"])
    return fields


def found(ids: Sequence[str]) -> list[Source]:
    """The sources of these ids, all of them."""
    wrong = [id for id in ids if not (id.isascii() and id.isdigit() and len(id) < 19)]
    if wrong or not ids:
        raise CommandError(f"“{' '.join(wrong)}” is no id of a source.", returncode=USAGE)
    sources = list(Source.objects.filter(pk__in=map(int, ids)))
    if missing := {int(id) for id in ids} - {source.pk for source in sources}:
        raise CommandError(f"There is no source {', '.join(map(str, sorted(missing)))}.")
    return sources


def facts(standing: Standing) -> dict[str, Any]:
    """As `status` tells of it, and how it is set."""
    source = standing.source
    return {
        **status.source(standing),
        "name": str(source),
        "owner": source.owner,
        "priority": Source.Priority(source.priority).name.lower(),
        "every_seconds": source.every.total_seconds(),
        "skew_seconds": source.skew.total_seconds() if source.skew is not None else None,
        "reason": standing.reason,
    }


def sentence(standing: Standing) -> str:
    source = standing.source
    words = [f"{source.pk}  {source}: {standing.state}", f"{source.yielded:,} posts"]
    if source.leaked:
        words.append(f"{source.leaked:,} leaked")
    if standing.gaps_open or standing.gaps_lost:
        words.append(f"{standing.gaps_open:,} gaps to fill, {standing.gaps_lost:,} lost")
    if standing.next_poll_at:
        words.append(f"next at {clock_time(standing.next_poll_at, now=timezone.now())}")
    return ", ".join(words) + (f". {standing.reason}" if standing.reason else "")
