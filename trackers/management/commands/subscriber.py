"""`manage.py subscriber`: who gets events, how delivery goes, and what to deliver again."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils import timezone

from trackers.acts import Done
from trackers.events import redelivery
from trackers.events.delivery.models import Attempt
from trackers.events.models import Subscriber
from trackers.events.set_aside import NotSetAsideError, batch_json
from trackers.events.subscribers import acts, terms
from trackers.events.subscribers.headers import read_line
from trackers.events.subscribers.listing import attempt_json, subscriber_json
from trackers.events.subscribers.status import current_statuses
from trackers.history import by_command
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.management.subscribers import (
    describe_attempt,
    describe_batch,
    describe_subscriber,
    find_subscriber,
    terms_of,
)
from tweetwatch.amounts import amount
from tweetwatch.command_line import EXIT_USAGE


class Command(ActionsCommand):
    help = "Add, list, pause, resume or remove subscribers to events (docs/bus.md)."

    def add_actions(self, add_action: AddAction) -> None:
        add = add_action("add", help="add a subscriber; its signing key is shown once")
        add.add_argument("name")
        _add_terms_options(add, required=True)
        change = add_action("change", help="change a subscriber's options")
        change.add_argument("name")
        _add_terms_options(change, required=False)
        add_action("list", help="list the subscribers and their deliveries")
        for name, what in (
            ("pause", "send nothing, and keep its events until it is resumed"),
            ("resume", "send again, even after it was disabled"),
            ("remove", "remove it, and drop the events that are waiting for it"),
        ):
            add_action(name, help=what).add_argument("name")
        rotate = add_action(
            "rotate-secret",
            help="add a signing key; the previous one also signs until the next rotation",
        )
        rotate.add_argument("name")
        rotate.add_argument(
            "--end-overlap", action="store_true", help="sign only with the newest key from now on"
        )
        add_action("test", help="send a test event").add_argument("name")
        replay = add_action("replay", help="deliver the events of a period again")
        replay.add_argument("name")
        replay.add_argument("--since", required=True, type=_time_argument, metavar="TIME")
        replay.add_argument(
            "--until", type=_time_argument, metavar="TIME", help="until now by default"
        )
        replay.add_argument("--dry-run", action="store_true", help="only count them")
        redeliver = add_action("redeliver", help="deliver a batch again")
        redeliver.add_argument("name")
        redeliver.add_argument("batch", type=UUID, help="its webhook-id")
        batches = add_action("batches", help="show what is set aside, and the head of the line")
        batches.add_argument("name")
        batches.add_argument("--limit", type=int, default=20, metavar="N")
        for name, what in (
            ("set-aside", "take a batch that failed out of the line, so that the next are sent"),
            ("send-again", "deliver a batch that is set aside"),
            ("drop-batch", "drop a batch that is set aside"),
        ):
            action = add_action(name, help=what)
            action.add_argument("name")
            action.add_argument("batch", type=UUID, help="its webhook-id")
        attempts = add_action("attempts", help="show the latest delivery attempts")
        attempts.add_argument("name")
        attempts.add_argument("--outcome", choices=Attempt.Outcome.values)
        attempts.add_argument("--limit", type=int, default=20, metavar="N")
        attempts.add_argument("--since", type=_time_argument, metavar="TIME")
        attempts.add_argument("--until", type=_time_argument, metavar="TIME")

    def do_add(self, options: Mapping[str, Any]) -> None:
        with _report_bad_input():
            subscriber, key = acts.add(options["name"], terms_of(options), by_command())
        self.say(f"Added {subscriber}.")
        self.show_key(subscriber, key)

    def do_change(self, options: Mapping[str, Any]) -> None:
        with _report_bad_input():
            subscriber = acts.change(
                find_subscriber(options["name"]), terms_of(options), by_command()
            )
        self.show({"changed": subscriber.name}, f"Changed {subscriber}.")

    def do_list(self, options: Mapping[str, Any]) -> None:
        for row in current_statuses(now=timezone.now()):
            subscriber = subscriber_json(row)
            self.show(subscriber, describe_subscriber(subscriber))

    def do_pause(self, options: Mapping[str, Any]) -> None:
        done = acts.pause(find_subscriber(options["name"]), by_command())
        self.show({"paused": options["name"]}, done.message)

    def do_resume(self, options: Mapping[str, Any]) -> None:
        done = acts.resume(find_subscriber(options["name"]), by_command())
        self.show({"resumed": options["name"]}, done.message)

    def do_remove(self, options: Mapping[str, Any]) -> None:
        done = acts.remove(find_subscriber(options["name"]), by_command())
        self.show({"removed": options["name"], "dropped": done.count}, done.message)

    def do_rotate_secret(self, options: Mapping[str, Any]) -> None:
        subscriber = find_subscriber(options["name"])
        if options["end_overlap"]:
            done = acts.end_overlap(subscriber, by_command())
            self.show({"name": subscriber.name}, done.message)
        else:
            self.show_key(subscriber, acts.rotate_key(subscriber, by_command()))

    def do_test(self, options: Mapping[str, Any]) -> None:
        done = acts.test(find_subscriber(options["name"]), by_command())
        self.show({"tested": options["name"]}, done.message)

    def do_replay(self, options: Mapping[str, Any]) -> None:
        subscriber = find_subscriber(options["name"])
        since, until = options["since"], options["until"] or timezone.now()
        if since >= until:
            raise CommandError("--since must be before --until.", returncode=EXIT_USAGE)
        if options["dry_run"]:
            events = redelivery.count_replay(subscriber, since, until)
            sentence = (
                f"{subscriber}: {amount(events, 'event')} would be delivered again, if "
                "its filters match them."
            )
        else:
            done = acts.replay(subscriber, by_command(), since=since, until=until)
            events, sentence = done.count, done.message
        result = {"name": subscriber.name, "events": events, "dry_run": options["dry_run"]}
        self.show(result, sentence)

    def do_redeliver(self, options: Mapping[str, Any]) -> None:
        subscriber = find_subscriber(options["name"])
        try:
            done = acts.redeliver(subscriber, by_command(), batch=options["batch"])
        except redelivery.NoSuchBatchError as error:
            raise CommandError(str(error)) from None
        self.show({"name": subscriber.name, "events": done.count}, done.message)

    def do_batches(self, options: Mapping[str, Any]) -> None:
        subscriber, limit = find_subscriber(options["name"]), options["limit"]
        batches = [*subscriber.batches_set_aside()[:limit], *subscriber.batches_in_line()[:limit]]
        for row in batches:
            batch = batch_json(row)
            self.show(batch, describe_batch(batch))
        if not batches:
            self.say(f"Nothing waits for {subscriber}.")

    def do_set_aside(self, options: Mapping[str, Any]) -> None:
        self._act_on_batch(acts.put_aside, options)

    def do_send_again(self, options: Mapping[str, Any]) -> None:
        self._act_on_batch(acts.send_again, options)

    def do_drop_batch(self, options: Mapping[str, Any]) -> None:
        self._act_on_batch(acts.drop_batch, options)

    def _act_on_batch(self, act: Callable[..., Done], options: Mapping[str, Any]) -> None:
        subscriber = find_subscriber(options["name"])
        try:
            done = act(subscriber, by_command(), batch=options["batch"])
        except NotSetAsideError as error:
            raise CommandError(str(error)) from None
        self.show({"name": subscriber.name, "batch": str(options["batch"])}, done.message)

    def do_attempts(self, options: Mapping[str, Any]) -> None:
        subscriber = find_subscriber(options["name"])
        attempts = Attempt.objects.newest_of(
            subscriber,
            limit=options["limit"],
            outcome=options["outcome"] or "",
            since=options["since"],
            until=options["until"],
        )
        for row in reversed(attempts):
            attempt = attempt_json(row)
            self.show(attempt, describe_attempt(attempt))
        if not attempts:
            self.say(f"There has been no such attempt to deliver to {subscriber}.")

    def show_key(self, subscriber: Subscriber, key: str) -> None:
        self.say("Its signing key (it will not be shown again):")
        self.show({"name": subscriber.name, "signing_secret": key}, key)

    def say(self, sentence: str) -> None:
        if not self.as_json:
            super().say(sentence)


def _time_argument(text: str) -> datetime:
    """A time in ISO 8601; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text} is not a time such as 2026-11-22T18:00:00Z.") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _at_least_argument(text: str) -> str:
    try:
        terms.at_least_of(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    return text


def _header_argument(text: str) -> tuple[str, str]:
    try:
        return read_line(text)
    except ValidationError as error:
        raise ArgumentTypeError(error.message) from None


def _add_terms_options(parser: ArgumentParser, *, required: bool) -> None:
    """The options of a new subscriber, or of a change: what is left out then stays."""
    add_option = parser.add_argument
    add_option("--callback", required=required, metavar="URL", help="where batches go")
    add_option("--topic", required=required, action="append", metavar="T", dest="topics")
    add_option(
        "--max",
        type=int,
        metavar="N",
        dest="max_events",
        help="most events in a batch (100 by default)",
    )
    add_option(
        "--timeout",
        type=int,
        metavar="MS",
        dest="timeout_ms",
        help="how long a batch waits for more events (500 by default)",
    )
    add_option("--ordered", action=BooleanOptionalAction, help="one batch at a time, in order")
    add_option(
        "--concurrency", type=int, metavar="N", help="most batches in flight at once (4 by default)"
    )
    add_option("--rate", type=int, metavar="N", help="most events a second")
    add_option("--format", choices=Subscriber.Format.values)
    add_option("--uuid", help="user name of Basic auth, sent with each batch")
    add_option(
        "--header",
        type=_header_argument,
        action="append",
        metavar="'NAME: VALUE'",
        dest="headers",
        help="sent with each batch; the value is not shown again",
    )
    add_option("--without-header", action="append", metavar="NAME", dest="without_headers")
    add_option("--with-data", action=BooleanOptionalAction, help="send the tweet's figures too")
    add_option("--each-change", action=BooleanOptionalAction,
          help="send every change, even if a newer one waits in the same batch")  # fmt: skip
    add_option("--author", type=int, action="append", metavar="ID", dest="authors")
    add_option("--source", type=int, action="append", metavar="ID", dest="sources")
    add_option(
        "--at-least",
        type=_at_least_argument,
        metavar="METRIC=N",
        help="only changes of tweets with this figure or more",
    )


@contextmanager
def _report_bad_input() -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise CommandError(" ".join(terms.sentences(error)), returncode=EXIT_USAGE) from None
