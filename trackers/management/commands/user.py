"""`manage.py user`: accounts, their roles, and what locks them out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from getpass import getpass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import transaction

from trackers import history, roles
from trackers.history import by_command
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.tokens import acts
from tweetwatch.command_line import EXIT_USAGE

NO_ROLE = "none"


class Command(ActionsCommand):
    help = "Add, list and unlock accounts, give them roles, and help people back in."

    def add_actions(self, add_action: AddAction) -> None:
        add = add_action("add", help="add an account; its password is read from standard input")
        add.add_argument("name")
        add.add_argument("--role", choices=roles.ROLES, default=roles.VIEWER)
        add.add_argument("--email", default="")
        invite = add_action(
            "invite", help="add an account, and print the link by which its person sets a password"
        )
        invite.add_argument("name")
        invite.add_argument("--role", choices=roles.ROLES, default=roles.VIEWER)
        invite.add_argument("--email", default="")
        link = add_action("link", help="print a link by which its person sets a new password")
        link.add_argument("name")
        role = add_action("role", help="give it this role in place of any other")
        role.add_argument("name")
        role.add_argument("role", choices=[*roles.ROLES, NO_ROLE])
        password = add_action(
            "set-password", help="set its password, read from standard input; it is logged out"
        )
        password.add_argument("name")
        factors = add_action(
            "reset-factors", help="remove its second factors, for somebody who lost them"
        )
        factors.add_argument("name")
        add_action("list", help="list all accounts and their roles")
        unlock = add_action("unlock", help="forget an account's failed logins")
        unlock.add_argument("name")
        unlock.add_argument("--address", default="", help="and the failed logins from this address")

    def do_add(self, options: Mapping[str, Any]) -> None:
        user = User(username=options["name"], email=options["email"])
        user.full_clean(exclude=["password"])
        password = _read_password()
        # Refused or killed, it leaves neither this account nor that of commands.
        with transaction.atomic():
            acts.add_user(user, password, by_command(), role=options["role"])
        self.show_user(user)

    def do_invite(self, options: Mapping[str, Any]) -> None:
        user = User(username=options["name"], email=options["email"])
        user.full_clean(exclude=["password"])
        with transaction.atomic():
            link = acts.invite(
                user, by_command(), role=options["role"], public_url=settings.PUBLIC_URL
            )
        self._show_link(user, link)

    def do_link(self, options: Mapping[str, Any]) -> None:
        user = _find_user(options["name"])
        self._show_link(user, acts.make_link(user, by_command(), public_url=settings.PUBLIC_URL))

    def _show_link(self, user: User, link: str) -> None:
        """The link alone, for whoever sends it on; about it on the other output."""
        self.show({"name": user.username, "link": link}, link)
        if not self.as_json:
            self.say(f"Whoever has it sets the password of {user.username}, within three days.")

    def do_role(self, options: Mapping[str, Any]) -> None:
        user = _find_user(options["name"])
        acts.set_role(user, None if options["role"] == NO_ROLE else options["role"], by_command())
        self.show_user(user)

    def do_set_password(self, options: Mapping[str, Any]) -> None:
        user = _find_user(options["name"])
        done = acts.set_password(user, _read_password(), by_command())
        self.show_user(user, done.message)

    def do_reset_factors(self, options: Mapping[str, Any]) -> None:
        user = _find_user(options["name"])
        done = acts.reset_factors(user, by_command())
        self.show_user(user, done.message)

    def do_list(self, options: Mapping[str, Any]) -> None:
        for user in User.objects.exclude(username=history.COMMANDS_ACCOUNT).order_by("username"):
            self.show_user(user)

    def do_unlock(self, options: Mapping[str, Any]) -> None:
        user = _find_user(options["name"])
        done = acts.unlock([user], by_command(), address=options["address"])
        self.show_user(user, done.message)

    def show_user(self, user: User, sentence: str = "") -> None:
        result = {
            "name": user.username,
            "roles": roles.roles_of(user),
            "is_administrator": user.is_superuser,
            "is_active": user.is_active,
        }
        self.show(result, sentence or _describe_user(user))


def _describe_user(user: User) -> str:
    what = "administrator" if user.is_superuser else " and ".join(roles.roles_of(user))
    return f"{user.username}: {what or 'no role'}{'' if user.is_active else ', not active'}"


def _find_user(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no account called {name}.")
    return user


def _read_password() -> str:
    """Never an argument: those stay in the shell's history."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass("Password: ")
    if getpass("Again: ") != password:
        raise CommandError("The two passwords differ. Nothing was done.", returncode=EXIT_USAGE)
    return password
