"""What is done to accounts: added, given a role, unlocked. Never a word of a password is kept."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password

from trackers import history, roles
from trackers.acts import Done
from trackers.history import Actor
from trackers.tokens import wrong_logins


def add_user(user: User, password: str, actor: Actor, *, role: str) -> Done:
    """Save a new account with this password and role. Raises ValidationError."""
    validate_password(password, user)
    user.set_password(password)
    user.save()
    roles.give(user, role)
    history.record(actor, [user], f"Added as {role}", flag=history.ADDITION)
    return Done(f"Added {user.username}.")


def set_role(user: User, role: str | None, actor: Actor) -> Done:
    """This role in place of any other; None: no role."""
    if role is None:
        roles.take(user)
    else:
        roles.give(user, role)
    history.record(actor, [user], f"Role: {role or 'none'}")
    return Done(f"{user.username} has the role {role or 'none'}.")


def unlock(users: Sequence[User], actor: Actor, *, address: str = "") -> Done:
    """Forget the failed logins of these accounts, and of the address."""
    for user in users:
        wrong_logins.unlock(user.username, address=address)
    history.record(actor, users, "Forgot failed logins")
    names = ", ".join(user.username for user in users)
    return Done(f"The failed logins of {names} no longer count.", len(users))
