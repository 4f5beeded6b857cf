"""`manage.py bus_token`: who may publish and subscribe through the bus's HTTP API."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

from django.core.management.base import CommandError

from trackers.bus import acts, tokens
from trackers.history import by_command
from trackers.management.pageless import PagelessCommand
from tweetwatch.command_line import EXIT_USAGE


class Command(PagelessCommand):
    help = "Add, list or remove tokens for clients of the event bus."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        add = actions.add_parser("add", help="add a client; its token is shown once")
        add.add_argument("name", help="the client's name, as publisher and as subscriber")
        add.add_argument(
            "--root",
            action="store_true",
            help="a token that creates and revokes the others by HTTP, and does nothing else",
        )
        actions.add_parser("list", help="list the tokens by their names, first letters and scopes")
        remove = actions.add_parser("remove", help="revoke a token and remove its subscriber")
        remove.add_argument("name")
        for action in actions.choices.values():
            action.add_argument("--json", action="store_true", help="print JSON Lines")

    def handle(self, *args: Any, **options: Any) -> None:
        act: Callable[[Mapping[str, Any]], None] = getattr(self, f"do_{options['action']}")
        act(options)

    def do_add(self, options: Mapping[str, Any]) -> None:
        try:
            scope = tokens.ROOT if options["root"] else tokens.CLIENT
            token = acts.add_token(options["name"], by_command(), scope=scope)
        except ValueError as fault:
            raise CommandError(str(fault), returncode=EXIT_USAGE) from None
        if options["json"]:
            self.stdout.write(json.dumps({"name": options["name"], "token": token}))
        else:
            self.stderr.write("The token (it will not be shown again):", lambda text: text)
            self.stdout.write(token)

    def do_list(self, options: Mapping[str, Any]) -> None:
        for token in tokens.bus_tokens():
            row = {"name": token.name, "token": tokens.masked_token(token), "scope": token.scope}
            line = f"{token.name}  {row['token']}  {token.scope}  made {token.made_at:%Y-%m-%d}"
            self.stdout.write(json.dumps(row) if options["json"] else line)

    def do_remove(self, options: Mapping[str, Any]) -> None:
        name = options["name"]
        # Only by name: a token typed here would stay in the shell's history.
        token = tokens.bus_tokens().filter(name=name).first()
        if token is None:
            raise CommandError(f"There is no token called {name}.")
        done = acts.revoke_token(token, by_command())
        self.stdout.write(json.dumps({"removed": name}) if options["json"] else done.message)
