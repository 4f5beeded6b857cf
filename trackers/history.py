"""The history: who did what, and through which door. The act itself writes it (`trackers.acts`).

Django itself writes down what the admin's own forms save.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

from tweetwatch.env_file import user_name

__all__ = [
    "ADDITION",
    "CHANGE",
    "DELETION",
    "Actor",
    "by_api",
    "by_bus",
    "by_channel",
    "by_command",
    "by_link",
    "by_provider",
    "in_admin",
    "on_page",
    "record",
    "record_many",
]

# An act on more rows than this is one line, so that the history does not grow with the tweets.
MAX_LINES = 100
# The account of commands and of the bus; nobody logs in as this one. A command does not know which
# account sits at the terminal, so its lines name the operating system's user.
COMMANDS_ACCOUNT = "manage.py"

Person = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. Each door makes its own; an act passes it on to the history."""

    user: Person
    # The door, as the end of a sentence: "by the API".
    through: str

    @property
    def account(self) -> int:
        return int(self.user.pk or 0)

    def did(self, what: str) -> str:
        """What was done and how, as a line of the history."""
        return f"{what}, {self.through}."


def on_page(user: Person) -> Actor:
    return Actor(user, "on a page")


def in_admin(user: Person) -> Actor:
    return Actor(user, "in the admin")


def by_api(user: Person) -> Actor:
    return Actor(user, "by the API")


def by_link(user: Person) -> Actor:
    """Whoever has an e-mail of this person's."""
    return Actor(user, "by a link in an e-mail")


def by_provider(user: Person, name: str) -> Actor:
    """`name`: of the provider at which the person logged in."""
    return Actor(user, f"by a login with {name}")


def by_command() -> Actor:
    return Actor(
        _commands_account(), f"by manage.py, run by {user_name()} on {socket.gethostname()}"
    )


def by_channel(channel: str) -> Actor:
    """Somebody without an account; `channel`: where the link was posted."""
    return Actor(_commands_account(), f"by a link in the channel {channel}")


def by_bus(client: str) -> Actor:
    """`client`: the name of its token."""
    return Actor(_commands_account(), f"by the bus, with the token {client}")


def record(actor: Actor, chosen: Sequence[Model], what: str, *, flag: int = CHANGE) -> None:
    """A line for each row, or one for all of many. `what`: such as "Paused", without a full stop;
    never a word that might be a secret."""
    if not chosen:
        return
    if len(chosen) > MAX_LINES:
        record_many(actor, type(chosen[0]), len(chosen), what, flag=flag)
        return
    LogEntry.objects.log_actions(actor.account, chosen, flag, actor.did(what))


def record_many(
    actor: Actor,
    model: type[Model],
    count: int,
    what: str,
    *,
    flag: int = CHANGE,
) -> None:
    """One line about this many rows of a model; none about none."""
    if not count:
        return
    name = model._meta.verbose_name if count == 1 else model._meta.verbose_name_plural
    LogEntry.objects.create(
        user_id=actor.account,
        content_type=ContentType.objects.get_for_model(model, for_concrete_model=False),
        object_repr=f"{count:,} {name}",
        action_flag=flag,
        change_message=actor.did(what),
    )


def _commands_account() -> User:
    """The account of the command line, which has no password and may not log in."""
    made, is_new = User.objects.get_or_create(
        username=COMMANDS_ACCOUNT, defaults={"is_active": False}
    )
    if is_new:
        made.set_unusable_password()
        made.save(update_fields=["password"])
    return made
