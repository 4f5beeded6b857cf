"""`manage.py credential`: adds, lists, checks, disables and enables the keys to X."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from getpass import getpass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError

from trackers.credentials import acts
from trackers.credentials.describe import aligned_table, describe
from trackers.credentials.models import Credential
from trackers.credentials.secrets import MAY_HAVE, NEEDS
from trackers.history import by_command
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.xapi.wire import network
from trackers.xapi.wire.session import CANONICAL
from tweetwatch.command_line import EXIT_USAGE

MAX_NAME_LENGTH = 60


class Command(ActionsCommand):
    help = "Add, list, check, disable, enable or remove credentials for X."

    def add_actions(self, add_action: AddAction) -> None:
        add = add_action(
            "add",
            help="add a credential; its secrets are read from standard input, as a JSON object",
        )
        add.add_argument("name")
        add.add_argument("--kind", required=True, choices=Credential.Kind.values)
        add.add_argument("--api", default=Credential.Api.V2, choices=Credential.Api.values)
        add.add_argument("--app", default="", help="the X app that the keys belong to")
        add.add_argument("--project", default="", help="the X project of the app")
        check = add_action("check", help="ask X for one tweet, with all credentials or with one")
        check.add_argument("name", nargs="?")
        disable = add_action("disable", help="stop using a credential")
        disable.add_argument("name")
        disable.add_argument("--reason", default="disabled by hand")
        for name, what in (("enable", "use it again"), ("remove", "forget it and its secrets")):
            add_action(name, help=what).add_argument("name")
        add_action("list", help="list the credentials, with their rate limits")

    def do_add(self, options: Mapping[str, Any]) -> None:
        name = options["name"]
        if Credential.objects.filter(name=name).exists():
            raise CommandError(f"There is already a credential called {name}. Remove it first.")
        fields = {field: options[field] for field in ("name", "kind", "api")}
        credential = Credential(**fields, secrets=_read_secrets(options["kind"]))
        try:
            done = acts.add(
                credential,
                by_command(),
                app=_check_name_length("--app", options["app"]),
                project=_check_name_length("--project", options["project"]),
            )
        except ValueError as error:
            raise CommandError(str(error), returncode=EXIT_USAGE) from None
        self.say(f"{done.message} Try it with `manage.py credential check {name}`.")
        self.show_json([describe(credential)])

    def do_list(self, options: Mapping[str, Any]) -> None:
        # Without the secrets: the list is needed most when a key of FIELD_KEYS is lost.
        rows = [describe(credential) for credential in _all_credentials()]
        if self.as_json:
            self.show_json(rows)
        elif rows:
            self.stdout.write(aligned_table(rows))
        else:
            self.say("No credentials yet. Add one: `manage.py credential add NAME --kind bearer`.")

    def do_check(self, options: Mapping[str, Any]) -> None:
        names = (
            [options["name"]]
            if options["name"]
            else [credential.name for credential in _all_credentials()]
        )
        if not names:
            raise CommandError(
                "No credentials to check. Add one: `manage.py credential add NAME --kind bearer`."
            )
        self.say_way()
        verdicts = []
        for name in names:
            verdict = acts.check(_find_credential(name))
            verdicts.append(verdict)
            self.show(verdict.to_dict(), f"{name}: {verdict.sentence()}")
        if not any(verdict.ok for verdict in verdicts):
            raise CommandError("X accepted none of them.")

    def say_way(self) -> None:
        """Say how X is reached, if not directly."""
        address = settings.X_API_BASE_URL or CANONICAL
        taken = str(network.current_route().taken_to(urlsplit(address).hostname or ""))
        if settings.X_API_BASE_URL or taken:
            self.say(f"X is asked at {', '.join(filter(None, (address, taken)))}.")

    def do_disable(self, options: Mapping[str, Any]) -> None:
        credential = _find_credential(options["name"])
        done = acts.disable([credential], by_command(), reason=options["reason"])
        self.say(done.message)
        self.show_json([describe(credential)])

    def do_enable(self, options: Mapping[str, Any]) -> None:
        credential = _find_credential(options["name"])
        self.say(acts.enable([credential], by_command()).message)
        self.show_json([describe(credential)])

    def do_remove(self, options: Mapping[str, Any]) -> None:
        credential = _find_credential(options["name"])
        row = describe(credential)
        self.say(acts.remove(credential, by_command()).message)
        self.show_json([row])

    def show_json(self, rows: Any) -> None:
        if self.as_json:
            for row in rows:
                self.stdout.write(json.dumps(row))


def _check_name_length(option: str, name: str) -> str:
    if len(name) > MAX_NAME_LENGTH:
        raise ValueError(f"{option}: A name can have at most {MAX_NAME_LENGTH} characters.")
    return name


def _all_credentials() -> Iterator[Credential]:
    return iter(Credential.objects.for_lists())


def _find_credential(name: str) -> Credential:
    try:
        return Credential.objects.for_lists().get(name=name)
    except Credential.DoesNotExist:
        raise CommandError(f"There is no credential called {name}.") from None


def _read_secrets(kind: str) -> dict[str, str]:
    """From standard input as JSON; at a terminal the user is prompted, without echo."""
    optional = MAY_HAVE.get(kind, ())
    names = ", ".join([*NEEDS[kind], *(f"{name} (optional)" for name in optional)])
    if sys.stdin.isatty():
        asked = {name: getpass(f"{name}: ").strip() for name in (*NEEDS[kind], *optional)}
        return {name: value for name, value in asked.items() if value or name not in optional}
    text = sys.stdin.read()
    if not text.strip():
        raise CommandError(
            f"Standard input is empty. Pipe in the secrets as one JSON object with {names}.",
            returncode=EXIT_USAGE,
        )
    try:
        secrets = json.loads(text)
    except ValueError:
        secrets = None
    if not isinstance(secrets, dict):
        raise CommandError(
            f"Standard input is not a JSON object with {names}.",
            returncode=EXIT_USAGE,
        )
    # An empty or null secret means a public client, which has none.
    return {name: value for name, value in secrets.items() if value or name not in optional}
