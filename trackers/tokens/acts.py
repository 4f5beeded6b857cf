"""What is done to accounts, tokens and secret feed addresses. Never a word of a secret is kept."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.template.defaultfilters import pluralize
from django.utils import timezone

from trackers import history, roles
from trackers.acts import Done
from trackers.history import Actor
from trackers.timelines.models import Follower
from trackers.tokens import feed_addresses, wrong_logins
from trackers.tokens.models import ApiToken


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
        wrong_logins.unlock_account(user.username, address=address)
    history.record(actor, users, "Forgot failed logins")
    names = ", ".join(user.username for user in users)
    return Done(f"The failed logins of {names} no longer count.", len(users))


def revoke_tokens(tokens: Sequence[ApiToken], actor: Actor) -> Done:
    """Refuse programs with these tokens; `count`: how many were valid."""
    valid = ApiToken.objects.filter(revoked_at=None)
    revoked = [
        token for token in tokens if valid.filter(pk=token.pk).update(revoked_at=timezone.now())
    ]
    history.record(actor, revoked, "Revoked")
    count = len(revoked)
    them = pluralize(count, "it,them")
    return Done(f"{count:,} revoked. Requests with {them} are refused from now on.", count)


def make_address(follower: Follower, actor: Actor) -> str:
    """Return the secret of a new feed address of its home, in place of an older one."""
    secret = feed_addresses.make_address(follower.pk, now=timezone.now())
    history.record(actor, [follower], "Created a new secret feed address")
    return secret


def revoke_addresses(followers: Sequence[Follower], actor: Actor) -> Done:
    """Refuse readers with the feed addresses of these homes; `count`: how many there were."""
    revoked = [follower for follower in followers if feed_addresses.revoke_address(follower.pk)]
    history.record(actor, revoked, "Revoked its secret feed address")
    count = len(revoked)
    them = pluralize(count, "it,them")
    said = f"{count:,} revoked. Feed readers that use {them} are refused."
    return Done(said, count, is_done=bool(revoked))
