"""`manage.py source`: what is watched, added and changed by the rules of the page's form."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from trackers.acts import Done
from trackers.history import Actor, by_command
from trackers.ingest.sources import acts
from trackers.ingest.sources.archive import why_not
from trackers.ingest.sources.counts import remembered_count
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.only_here import brought, only_here
from trackers.ingest.sources.status import source_statuses
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.management.sources import (
    KINDS,
    PRIORITIES,
    add_from_options,
    change_source,
    describe_source,
    find_sources,
    named_fields,
    new_search_from_options,
    source_json,
)
from trackers.management.untracking import (
    Interrupted,
    confirm_or_stop,
    id_array,
    tweet_count_text,
    untrack_ids,
)
from trackers.xapi.endpoints import ARCHIVE_COUNTS
from tweetwatch.command_line import EXIT_USAGE
from tweetwatch.interrupts import INTERRUPTED


class Command(ActionsCommand):
    help = (
        "Add, list, change, pause, resume or remove sources (docs/sources.md); `poll ID` polls "
        "one. Put -- before a query that begins with a minus."
    )

    def add_actions(self, add_action: AddAction) -> None:
        new = add_action("add", help="add a source; it is polled at once")
        new.add_argument(
            "words",
            nargs="+",
            metavar="[KIND] OF",
            help="for example @nasa, #artemis or a link; of what does not say by itself what it "
            f"is, as an account's number or a query, first the kind: {', '.join(KINDS)}",
        )
        _add_settings_options(new)
        add_action("list", help="list the sources and their state")
        edit = add_action("change", help="change a source; options left out keep their values")
        edit.add_argument("id", metavar="ID")
        edit.add_argument(
            "--of", help="a different account or query, which starts from the beginning"
        )
        _add_settings_options(edit)
        pause = add_action("pause", help="stop polling until resumed")
        resume = add_action("resume", help="resume, with a poll at once")
        archive = add_action("full-archive", help="have X's full archive searched for lost gaps")
        archive.add_argument("id", metavar="ID")
        archive.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        lost = add_action("count-lost", help="have X count the posts of lost gaps")
        count = add_action("count", help="have X count what a search finds in a week")
        lost.add_argument("id", metavar="ID")
        search = count.add_mutually_exclusive_group(required=True)
        search.add_argument("id", metavar="ID", nargs="?")
        search.add_argument("--of", metavar="QUERY", help="a search that is no source yet")
        for action in (lost, count):
            action.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        remove = add_action("remove", help="remove sources; their tweets stay tracked")
        for action in (pause, resume, remove):
            action.add_argument("ids", nargs="+", metavar="ID")
        remove.add_argument(
            "--with-tweets",
            action="store_true",
            help="also untrack tweets that came from no other source, and delete their history",
        )
        remove.add_argument("--dry-run", action="store_true", help="only count them")
        remove.add_argument("--yes", action="store_true", help="do not ask for confirmation")

    def do_add(self, options: Mapping[str, Any]) -> None:
        source = add_from_options(options["words"], named_fields(options))
        self.show_sources([source])

    def do_list(self, options: Mapping[str, Any]) -> None:
        sources = list(Source.objects.all())
        if not sources:
            self.say("No sources yet. Add one: `manage.py source add @nasa`.")
        self.show_sources(sources)

    def do_change(self, options: Mapping[str, Any]) -> None:
        [source] = find_sources([options["id"]])
        fields = named_fields(options)
        if not fields:
            raise CommandError(
                "Give at least one option to change, such as --every or --pages.",
                returncode=EXIT_USAGE,
            )
        self.say(change_source(source, fields).message)
        source.refresh_from_db()
        self.show_sources([source])

    def do_pause(self, options: Mapping[str, Any]) -> None:
        self.each(options, acts.pause)

    def do_resume(self, options: Mapping[str, Any]) -> None:
        self.each(options, acts.resume)

    def do_full_archive(self, options: Mapping[str, Any]) -> None:
        [source] = find_sources([options["id"]])
        if not why_not(source):
            _confirm_cost(acts.asks_to_search_archive(source), options)
        done = acts.search_archive(source, by_command())
        if not done.is_done:
            raise CommandError(done.message)
        self.show({"id": str(source.pk), "gaps": done.count}, done.message)

    def do_count_lost(self, options: Mapping[str, Any]) -> None:
        [source] = find_sources([options["id"]])
        if not why_not(source, ARCHIVE_COUNTS):
            _confirm_cost(acts.asks_to_count_lost(source), options)
        done = acts.count_lost(source, by_command())
        if not done.is_done:
            raise CommandError(done.message)
        self.show({"id": str(source.pk), "posts": done.count}, done.message)

    def do_count(self, options: Mapping[str, Any]) -> None:
        if options["of"] is not None:
            self.count_before(options)
            return
        [source] = find_sources([options["id"]])
        _confirm_cost(acts.asks_to_count(source), options)
        done = acts.count(source, by_command())
        if not done.is_done:
            raise CommandError(done.message)
        self.show({"id": str(source.pk), "posts": done.count}, done.message)

    def count_before(self, options: Mapping[str, Any]) -> None:
        form = new_search_from_options(options["of"])
        query = form.cleaned_data["of"]
        if not remembered_count(query):
            _confirm_cost(acts.asks_to_count(form.instance), options)
        done = acts.count_before(form, by_command())
        if not done.is_done:
            raise CommandError(done.message)
        self.show({"of": query, "posts": done.count}, done.message)

    def do_remove(self, options: Mapping[str, Any]) -> None:
        sources = find_sources(options["ids"])
        for source in sources:
            self.remove(source, options)

    def each(self, options: Mapping[str, Any], act: Callable[[Source, Actor], Done]) -> None:
        sources = find_sources(options["ids"])
        for source in sources:
            self.say(act(source, by_command()).message)
        if self.as_json:
            self.show_sources(find_sources(options["ids"]))

    def remove(self, source: Source, options: Mapping[str, Any]) -> None:
        with_tweets = options["with_tweets"]
        rows = only_here(source).values_list("pk", flat=True)
        if options["dry_run"]:
            of_it, alone = brought(source).count(), rows.count()
            result = {"id": str(source.pk), "tweets": of_it, "only_from_there": alone}
            self.show(
                result,
                f"{tweet_count_text(of_it)} came from {source}, {alone:,} of them only from there.",
            )
            return
        untracked = 0
        if with_tweets:
            # Paused first, so that nothing comes in during the removal.
            count = rows.count()
            confirm_or_stop(
                f"Remove {source} and untrack {tweet_count_text(count)}?", yes=options["yes"]
            )
            acts.pause(source, by_command())
            self.say(f"Untracking {tweet_count_text(count)} from {source}.")
            try:
                untracked = untrack_ids(id_array(rows.iterator(chunk_size=10_000)))
            except Interrupted as interrupted:
                self.say(
                    f"Interrupted: {interrupted.done:,} of {tweet_count_text(count)} have been "
                    f"untracked. {source} is paused. Run the same command to continue."
                )
                sys.exit(INTERRUPTED)
        name = str(source)
        acts.remove(source, by_command())
        more = (
            f" and untracked {tweet_count_text(untracked)}"
            if with_tweets
            else "; its tweets stay tracked"
        )
        result = {"id": str(source.pk), "removed": name, "untracked": untracked}
        self.show(result, f"Removed {name}{more}.")

    def show_sources(self, sources: Sequence[Source]) -> None:
        for status in source_statuses(sources, now=timezone.now()):
            self.show(source_json(status), describe_source(status))


def _confirm_cost(question: str, options: Mapping[str, Any]) -> None:
    """It costs money: a script says that it is meant."""
    if not (options["yes"] or sys.stdin.isatty()):
        raise CommandError(f"{question} Repeat it with --yes.")
    confirm_or_stop(question, yes=options["yes"])


def _add_settings_options(parser: ArgumentParser) -> None:
    parser.add_argument("--every", help="time between polls, such as 90s, 5m or 1h 30m")
    parser.add_argument("--pages", help="most pages of 100 posts per poll")
    parser.add_argument("--backfill", help="how far back the first poll reads: such as 1d, or all")
    parser.add_argument("--late-by", help="how late a post may appear and still be found at once")
    parser.add_argument("--owner", help="whose source it is (any name)")
    parser.add_argument("--priority", choices=PRIORITIES)
    for what in ("replies", "retweets"):
        for how, action in (("without", "store_true"), ("with", "store_false")):
            parser.add_argument(
                f"--{how}-{what}", dest=f"exclude_{what}", action=action, default=None
            )
