"""A person's browsers as channels: each is added by its own button, and is gone once it logs out or
its push service no longer knows it."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from trackers.channels.acts import add, own_prefix, remove
from trackers.channels.models import Channel, PushKey
from trackers.channels.shapes.browser import are_push_keys, new_push_key, public_push_key
from trackers.channels.shapes.shape import host_of
from trackers.history import Actor
from trackers.xapi.keys import Secrets

_MOST_BROWSERS = 10
_MAX_BROWSER_NAME = 40


def _push_key() -> str:
    """The private key of this installation, made when it is asked for first."""
    row, _ = PushKey.objects.get_or_create(
        pk=1, defaults={"key": Secrets({"vapid": new_push_key()})}
    )
    key: str = row.key["vapid"]
    return key


def public_key() -> str:
    return public_push_key(_push_key())


def browsers_of(user: User) -> QuerySet[Channel]:
    return Channel.objects.own_of(user).filter(kind=Channel.Kind.BROWSER)


def add_browser(
    user: User, actor: Actor, *, name: str, endpoint: str, p256dh: str, auth: str
) -> Channel:
    """Raises ValidationError. One that is there already is replaced, with its rules."""
    if not _is_push_host(host_of(endpoint)):
        raise ValidationError(
            f"{host_of(endpoint)} is no push service that this server knows. Whoever runs it can "
            "add it to PUSH_HOSTS."
        )
    if not are_push_keys(p256dh, auth):
        raise ValidationError("The browser's keys cannot be read.")
    address = {"endpoint": endpoint, "p256dh": p256dh, "auth": auth, "vapid": _push_key()}
    own = list(browsers_of(user))
    for known in own:
        if known.address.get("endpoint") == endpoint:
            known.address = Secrets(address)
            known.stopped_at = known.failing_since = None
            known.save(update_fields=["address", "stopped_at", "failing_since"])
            return known
    if len(own) >= _MOST_BROWSERS:
        raise ValidationError(f"You have {_MOST_BROWSERS} browsers already. End one first.")
    return add(Channel.Kind.BROWSER, _free_name(user, name), address, actor, is_own=True)


def end_browser(user: User, actor: Actor, id: int) -> bool:
    """Returns whether it was there, and this person's."""
    channel = browsers_of(user).filter(pk=id).first()
    if channel is None:
        return False
    remove(channel, actor)
    return True


def _is_push_host(host: str) -> bool:
    """`.push.apple.com` in PUSH_HOSTS stands for all hosts below it."""
    return any(
        host == known or (known.startswith(".") and host.endswith(known))
        for known in settings.PUSH_HOSTS
    )


def _free_name(user: User, typed: str) -> str:
    plain = "".join(one for one in typed if one.isprintable()).strip()[:_MAX_BROWSER_NAME]
    first = f"{own_prefix(user)}{plain or 'browser'}"
    taken = set(Channel.objects.filter(name__startswith=first).values_list("name", flat=True))
    names = (first, *(f"{first} {number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)
