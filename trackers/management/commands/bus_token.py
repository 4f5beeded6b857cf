"""`manage.py bus_token`: who may publish and subscribe through the bus's HTTP API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from trackers.bus import acts, tokens
from trackers.history import by_command
from trackers.management.pageless import ActionsCommand, AddAction
from tweetwatch.command_line import EXIT_USAGE


class Command(ActionsCommand):
    help = "Add, list or remove tokens for clients of the event bus."

    def add_actions(self, add_action: AddAction) -> None:
        add = add_action("add", help="add a client, or a further token; it is shown once")
        add.add_argument("name", help="the client's name, as publisher and as subscriber")
        add.add_argument(
            "--root",
            action="store_true",
            help="a token that creates and revokes the others by HTTP, and does nothing else",
        )
        add_action("list", help="list the tokens by their names, first letters and scopes")
        remove = add_action("remove", help="revoke a client's tokens and remove its subscriber")
        remove.add_argument("name")
        remove.add_argument(
            "--only", metavar="LETTERS", help="only the token that begins so, as the list shows it"
        )

    def do_add(self, options: Mapping[str, Any]) -> None:
        try:
            scope = tokens.ROOT if options["root"] else tokens.CLIENT
            token = acts.add_token(options["name"], by_command(), scope=scope)
        except ValueError as fault:
            raise CommandError(str(fault), returncode=EXIT_USAGE) from None
        if not self.as_json:
            self.say("The token (it will not be shown again):")
        self.show({"name": options["name"], "token": token}, token)

    def do_list(self, options: Mapping[str, Any]) -> None:
        for token in tokens.bus_tokens():
            row = {"name": token.name, "token": tokens.masked_token(token), "scope": token.scope}
            line = f"{token.name}  {row['token']}  {token.scope}  made {token.made_at:%Y-%m-%d}"
            self.show(row, line)

    def do_remove(self, options: Mapping[str, Any]) -> None:
        name = options["name"]
        # Only by name: a token typed here would stay in the shell's history.
        chosen = list(tokens.bus_tokens().filter(name=name))
        if not chosen:
            raise CommandError(f"There is no token called {name}.")
        if letters := (options["only"] or "").rstrip("…"):
            chosen = [one for one in chosen if tokens.masked_token(one).rstrip("…") == letters]
            if len(chosen) != 1:
                raise CommandError(f"{len(chosen)} tokens of {name} begin with {letters}.")
        done = acts.remove_tokens(chosen, by_command())
        self.show({"removed": name}, done.message)
