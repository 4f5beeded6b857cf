"""What is done to accounts, tokens, secret feed addresses and sessions. Never a word of a secret is
kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.template.defaultfilters import pluralize
from django.utils import timezone

from trackers import history, roles
from trackers.acts import Done
from trackers.channels.models import QuietHours
from trackers.credentials import rotation
from trackers.credentials.models import Credential
from trackers.history import Actor
from trackers.timelines.models import Follower
from trackers.tokens import closing, factors, feed_addresses, sessions, ways_in, wrong_logins
from trackers.tokens.models import ApiToken, FeedAddress, Preferences, TimeFormat
from trackers.tokens.password_mail import password_link
from tweetwatch.amounts import amount


def add_user(user: User, password: str, actor: Actor, *, role: str) -> Done:
    """Save a new account with this password and role. Raises ValidationError."""
    validate_password(password, user)
    user.set_password(password)
    user.save()
    roles.give(user, role)
    history.record(actor, [user], f"Added as {role}", flag=history.ADDITION)
    return Done(f"Added {user.username}.")


def end_other_logins(user: User, actor: Actor, *, here: str | None) -> Done:
    """Log a person out everywhere but in this session."""
    count = sessions.end_other_logins(user, here=here)
    history.record(actor, [user], "Logged out everywhere else")
    return Done(f"{amount(count, 'other login')} ended.", count, is_done=bool(count))


def end_login(user: User, actor: Actor, *, id: int) -> Done:
    """Log a person out in one browser."""
    count = sessions.end_login(user, id)
    if count:
        history.record(actor, [user], "Ended a login")
    return Done("The login has ended.", count, is_done=bool(count))


def set_name(user: User, actor: Actor, *, first_name: str, last_name: str) -> Done:
    user.first_name, user.last_name = first_name, last_name
    user.save(update_fields=["first_name", "last_name"])
    history.record(actor, [user], "Changed the name")
    return Done("Your name is saved.")


def set_address(user: User, actor: Actor, *, email: str) -> Done:
    """One that its person has confirmed; empty: none, so that no e-mail comes."""
    user.email = email
    user.save(update_fields=["email"])
    history.record(
        actor, [user], "Confirmed the e-mail address" if email else "Removed the address"
    )
    return Done(f"Your e-mails go to {email}." if email else "You get no e-mails any more.")


@transaction.atomic
def close_account(user: User, actor: Actor) -> Done:
    """For good: nobody can log in with it, and it names nobody. Raises ValidationError for the last
    one that can change accounts."""
    # Of two owners who close at once, the second sees that the first is gone.
    list(User.objects.select_for_update().filter(is_active=True).order_by("pk").values_list("pk"))
    user.refresh_from_db()
    if roles.is_last_giver(user):
        raise ValidationError(
            "This is the last account that can change accounts. Make another one an owner first."
        )
    closing.anonymise(user)
    history.record(actor, [user], "Closed the account")
    return Done("The account is closed.", 1)


def set_time_format(
    user: User, actor: Actor, *, zone: str, dates: str, hours: int, week_start: int
) -> Done:
    """How this person reads times from now on."""
    chosen = {"zone": zone, "dates": dates, "hours": hours, "week_start": week_start}
    TimeFormat.objects.update_or_create(user=user, defaults=chosen)
    history.record(actor, [user], f"Reads times in {zone}")
    return Done(f"Times are shown in {zone}.")


def set_preferences(user: User, actor: Actor, *, theme: str, density: str, start: str) -> Done:
    """How this person's pages are from now on."""
    chosen = {"theme": theme, "density": density, "start": start}
    Preferences.objects.update_or_create(user=user, defaults=chosen)
    history.record(actor, [user], "Changed how pages look and which is the first")
    return Done("Your pages are like this on each of your devices.")


def set_quiet_hours(user: User, actor: Actor, *, begins: time | None, ends: time | None) -> Done:
    """By the person's own clock; None: no quiet hours any more."""
    if begins is None or ends is None:
        QuietHours.objects.filter(user=user).delete()
        history.record(actor, [user], "Ended the quiet hours")
        return Done("You have no quiet hours: what waited comes now.")
    row, _ = QuietHours.objects.update_or_create(
        user=user, defaults={"begins": begins, "ends": ends}
    )
    history.record(actor, [user], "Set quiet hours")
    return Done(f"Your quiet hours are {row}, every day.")


def set_theme(user: User, theme: str) -> None:
    """By the button that changes it; not worth a line in the history."""
    Preferences.objects.update_or_create(user=user, defaults={"theme": theme})


def unlink_provider(user: User, actor: Actor, *, name: str) -> Done:
    """End logging in at the provider of this name, where another way in remains. Raises
    ValidationError."""
    if not ways_in.gets_in_here(user):
        raise ValidationError(f"{name} is the only way in which {user.username} can log in.")
    count = ways_in.unlink(user)
    history.record(actor, [user], f"Unlinked from {name}")
    return Done(f"Your account is no longer linked with {name}.", count, is_done=bool(count))


def invite(user: User, actor: Actor, *, role: str, public_url: str) -> str:
    """Save a new account without a password; returns the link by which its person sets one."""
    user.set_unusable_password()
    user.save()
    roles.give(user, role)
    history.record(actor, [user], f"Invited as {role}", flag=history.ADDITION)
    return password_link(user, public_url)


def make_link(user: User, actor: Actor, *, public_url: str) -> str:
    """A link by which this person sets a password. Raises ValidationError."""
    if not user.is_active:
        raise ValidationError(f"{user.username} is not active, and cannot log in.")
    history.record(actor, [user], "Made a link to set a password")
    return password_link(user, public_url)


def set_password(user: User, password: str, actor: Actor) -> Done:
    """Raises ValidationError. Whoever is logged in with the old one is logged out."""
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    history.record(actor, [user], "Set a new password")
    return Done(f"{user.username} has a new password, and is logged out everywhere.")


def reset_factors(user: User, actor: Actor) -> Done:
    """Forget a person's second factors, recovery codes included: for whoever lost them."""
    count = factors.remove_factors(user)
    history.record(actor, [user], "Removed all second factors")
    return Done(f"{user.username} logs in without a second factor.", count, is_done=bool(count))


@transaction.atomic
def encrypt_anew(actor: Actor) -> Done:
    """Encrypt all secrets with the first of FIELD_KEYS; `count`: how many.

    Raises SecretUnreadableError: nothing is changed then.
    """
    count = rotation.encrypt_anew()
    history.record_many(actor, Credential, count, "Re-encrypted the secrets")
    count_of_factors = factors.encrypt_factors_anew()
    history.record_many(actor, User, count_of_factors, "Re-encrypted the second factors")
    return Done(
        f"Re-encrypted {count + count_of_factors} secrets, of credentials, subscribers and second "
        "factors, with the first of FIELD_KEYS.",
        count + count_of_factors,
    )


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
    """Return the secret of the actor's new feed address of this home, in place of an older one."""
    secret = feed_addresses.make_address(follower.pk, actor.account, now=timezone.now())
    history.record(actor, [follower], "Created a new secret feed address")
    return secret


def revoke_addresses(addresses: Sequence[FeedAddress], actor: Actor) -> Done:
    """Refuse feed readers with these addresses; `count`: how many were valid."""
    valid = FeedAddress.objects.all()
    revoked = [address.follower for address in addresses if valid.filter(pk=address.pk).delete()[0]]
    history.record(actor, revoked, "Revoked a secret feed address")
    count = len(revoked)
    them = pluralize(count, "it,them")
    message = f"{count:,} revoked. Feed readers that use {them} are refused."
    return Done(message, count, is_done=bool(revoked))


def revoke_all(user: User, actor: Actor) -> Done:
    """End all by which this account gets in: API tokens, feed addresses, and sessions. It may log
    in again, while it is active."""
    tokens = revoke_tokens(list(user.api_tokens.filter(revoked_at=None)), actor).count
    addresses = list(user.feed_addresses.select_related("follower"))
    feeds = revoke_addresses(addresses, actor).count
    logins = sessions.end_sessions(user)
    history.record(actor, [user], "Revoked all tokens and feed addresses, and ended all sessions")
    return Done(
        f"{user.get_username()}: revoked {amount(tokens, 'token')} and "
        f"{amount(feeds, 'feed address', 'feed addresses')}, and ended {amount(logins, 'session')}."
    )
