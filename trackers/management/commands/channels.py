"""`manage.py channels`: the chats, rooms and topics that alerts go to."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from getpass import getpass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db.models import QuerySet

from trackers.channels import acts
from trackers.channels.listing import channel_json
from trackers.channels.models import Channel
from trackers.channels.shapes import SHAPES, TYPED_SHAPES
from trackers.history import by_command
from trackers.management.pageless import ActionsCommand, AddAction
from tweetwatch.command_line import EXIT_USAGE


class Command(ActionsCommand):
    help = "Add, list, test or remove the channels that alerts go to (docs/channels.md)."

    def add_actions(self, add_action: AddAction) -> None:
        add = add_action(
            "add",
            help="add a channel; its address is read from standard input, as a JSON object",
        )
        add.add_argument("name")
        add.add_argument("--kind", required=True, choices=list(TYPED_SHAPES))
        add_action("list", help="list the channels, and how they are")
        for name, what in (
            ("test", "send a test, and show what the service answered"),
            ("remove", "remove it; rules that choose it stay"),
        ):
            add_action(name, help=what).add_argument("name")

    def do_add(self, options: Mapping[str, Any]) -> None:
        try:
            channel = acts.add(
                options["kind"], options["name"], _read_address(options["kind"]), by_command()
            )
        except ValidationError as error:
            raise CommandError(" ".join(_sentences(error)), returncode=EXIT_USAGE) from None
        sentence = f"Added {channel}. Try it with `manage.py channels test {channel.name}`."
        self.show(channel_json(channel), sentence)

    def do_list(self, options: Mapping[str, Any]) -> None:
        # Without the addresses: the list is needed, too, when a key of FIELD_KEYS is lost.
        channels = list(_everybodys())
        for channel in channels:
            listed = channel_json(channel)
            self.show(
                listed,
                f"{listed['name']}  {listed['kind']}  {listed['place']}  {listed['state']}"
                f"{'  ' + listed['reason'] if listed['reason'] else ''}",
            )
        if not channels and not self.as_json:
            self.say("No channels yet. Add one: `manage.py channels add NAME --kind slack`.")

    def do_test(self, options: Mapping[str, Any]) -> None:
        done = acts.test(_find_channel(options["name"]), by_command())
        self.show({"name": options["name"], "sent": done.is_done, "answer": done.message},
                  done.message)  # fmt: skip
        if not done.is_done:
            sys.exit(1)

    def do_remove(self, options: Mapping[str, Any]) -> None:
        done = acts.ACTS["remove"].do(_find_channel(options["name"]), by_command())
        self.show({"removed": options["name"]}, done.message)


def _everybodys() -> QuerySet[Channel]:
    return Channel.objects.seen_by(AnonymousUser()).defer("address")


def _find_channel(name: str) -> Channel:
    channel = _everybodys().filter(name=name).first()
    if channel is None:
        raise CommandError(f"There is no channel {name!r}. `channels list` names them all.")
    return channel


def _read_address(kind: str) -> dict[str, str]:
    """From the terminal one part after another, without an echo; else a JSON object."""
    if sys.stdin.isatty():
        return {
            part.name: getpass(f"{part.label}{' (may be empty)' if part.is_optional else ''}: ")
            for part in SHAPES[kind].parts
        }
    try:
        address = json.load(sys.stdin)
    except ValueError:
        address = None
    if not isinstance(address, dict) or not all(isinstance(one, str) for one in address.values()):
        names = ", ".join(part.name for part in SHAPES[kind].parts)
        raise CommandError(
            f"Standard input is not a JSON object of strings; its names are: {names}.",
            returncode=EXIT_USAGE,
        )
    return address


def _sentences(error: ValidationError) -> list[str]:
    if not hasattr(error, "error_dict"):
        return error.messages
    return [f"{name}: {fault}" for name, faults in error.message_dict.items() for fault in faults]
