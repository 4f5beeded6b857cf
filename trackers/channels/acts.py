"""What is done to channels. An address is taken, and never given back."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models.functions import Now
from django.utils import timezone

from trackers import history
from trackers.acts import Act, Done, for_own
from trackers.channels.address import checked_parts, place_of
from trackers.channels.claim import enqueue
from trackers.channels.models import CHANNELS_MOST, Channel, ChannelMessage, own_limits
from trackers.credentials.secrets import SecretUnreadableError
from trackers.history import Actor

VIEW, ADD, CHANGE, _DELETE = (
    f"trackers.{verb}_channel" for verb in ("view", "add", "change", "delete")
)
_TWICE = "There is a channel with this name already."
# How long a person waits for a service's answer to a test.
ANSWER_WITHIN = timedelta(seconds=8)
_LOOK_EVERY = 0.1
_MUTED_FOR = timedelta(hours=1)
_FIELDS_OF_SENDING = ("next_at", "stopped_at", "failing_since", "attempts", "reason")


def add(
    kind: str, name: str, address: Mapping[str, str], actor: Actor, *, is_own: bool = False
) -> Channel:
    """Add a channel, everybody's or the actor's own; ValidationError by the names of fields and of
    parts of the address."""
    owner = actor.user if is_own else None
    assert owner is None or isinstance(owner, User)
    if Channel.objects.count() >= CHANNELS_MOST:
        raise ValidationError(f"There are {CHANNELS_MOST} channels already. Remove one first.")
    if owner and kind != Channel.Kind.BROWSER:
        _check_limit(owner)
    parts = checked_parts(kind, address)
    channel = Channel(
        name=_full_name(name, owner),
        owner=owner,
        kind=kind,
        address=parts,
        place=place_of(kind, parts),
        made_by_id=actor.user.pk,
    )
    _save(channel, force_insert=True)
    _record(channel, actor, "Added", flag=history.ADDITION)
    return channel


def _check_limit(owner: User) -> None:
    most = own_limits().channels
    if Channel.objects.own_of(owner).exclude(kind=Channel.Kind.BROWSER).count() >= most:
        raise ValidationError(
            f"You have {most} channels of your own already. Remove one first."
            if most
            else "Nobody may have channels of their own here."
        )


def own_prefix(owner: User) -> str:
    """Names of channels are everybody's; a person's own begin with theirs."""
    return f"{owner.get_username()[:30]}: "


def _full_name(typed: str, owner: User | None) -> str:
    name = " ".join(typed.split())
    if owner is None or not name or name.startswith(own_prefix(owner)):
        return name
    return f"{own_prefix(owner)}{name}"


def _record(channel: Channel, actor: Actor, what: str, *, flag: int = history.CHANGE) -> None:
    """Of a person's own, the history says on the account that it was, and not which."""
    if channel.owner is None:
        history.record(actor, [channel], what, flag=flag)
    else:
        history.record(actor, [channel.owner], f"A channel of their own: {what.lower()}")


def change(
    channel: Channel, actor: Actor, *, name: str | None = None, address: Mapping[str, str]
) -> Channel:
    """Rename it, or give it another address; parts that are left out stay as they are."""
    if name is not None:
        channel.name = _full_name(name, channel.owner)
    try:
        before: Mapping[str, str] = channel.address
    except SecretUnreadableError:
        # It is entered anew.
        before = {}
    parts = checked_parts(channel.kind, address, before=before)
    if dict(parts) != dict(before):
        channel.address, channel.place = parts, place_of(channel.kind, parts)
        _try_anew(channel)
    _save(channel, update_fields=["name", "address", "place", *_FIELDS_OF_SENDING])
    _record(channel, actor, "Changed")
    return channel


def _try_anew(channel: Channel) -> None:
    channel.next_at, channel.attempts = timezone.now(), 0
    channel.stopped_at = channel.failing_since = None
    channel.reason = ""


def _save(channel: Channel, **how: object) -> None:
    channel.full_clean(exclude=["made_by", "address"])
    try:
        channel.save(**how)  # type: ignore[arg-type]
    except IntegrityError:
        # Somebody was faster.
        raise ValidationError({"name": _TWICE}) from None


def test(channel: Channel, actor: Actor) -> Done:
    """Send a message that says that it is a test, and wait a little for the answer."""
    _record(channel, actor, "Tested")
    # They have no notice with which they would be deleted.
    channel.messages.filter(is_test=True, notice=None).delete()
    line = {
        "what": "This is a test. Alerts of the rules that choose this channel arrive here.",
        "url": "/alerts/channels/",
        "rule": "",
        "is_over": False,
    }
    [message] = send_tests([channel], title=f"Test of {channel.name}", lines=[line])
    [answer] = answers_to([message])
    return answer


def send_tests(channels: Sequence[Channel], **fields: object) -> list[ChannelMessage]:
    """Queue a test for each, to be sent at once even if it fails or was stopped."""
    messages = enqueue(channels, now=timezone.now(), is_test=True, **fields)
    Channel.objects.filter(pk__in=[one.pk for one in channels]).update(
        next_at=Now(), stopped_at=None
    )
    return messages


def answers_to(messages: Sequence[ChannelMessage]) -> list[Done]:
    """What the services answered, as far as they did in a few seconds. Never call it in a
    transaction: others could not see what is to be sent."""
    until = time.monotonic() + ANSWER_WITHIN.total_seconds()
    ids, waiting = [one.pk for one in messages], ChannelMessage.State.WAITING
    while ids and time.monotonic() < until:
        if not ChannelMessage.objects.filter(pk__in=ids, state=waiting).exists():
            break
        time.sleep(_LOOK_EVERY)
    now = ChannelMessage.objects.select_related("channel").in_bulk(ids)
    return [_answer(now[id]) if id in now else Done("It was removed.", is_done=False) for id in ids]


def _answer(message: ChannelMessage) -> Done:
    name, service = message.channel.name, message.channel.get_kind_display()
    match message.state:
        case ChannelMessage.State.SENT:
            return Done(f"{name}: {service} took the test.", 1)
        case ChannelMessage.State.GIVEN_UP:
            return Done(f"{name}: {message.error}", is_done=False)
    return Done(
        f"{name}: The test waits to be sent. If it stays so, start manage.py deliver.",
        is_done=False,
    )


def mute_channel(channel: Channel, actor: Actor) -> Done:
    """Send it nothing for an hour; alerts meanwhile are only in the log."""
    Channel.objects.filter(pk=channel.pk).update(muted_until=Now() + _MUTED_FOR)
    _record(channel, actor, "Muted for an hour")
    return Done(f"{channel}: muted for an hour. Alerts meanwhile are only in the log.")


def _unmute(channel: Channel, actor: Actor) -> Done:
    Channel.objects.filter(pk=channel.pk).update(muted_until=None)
    _record(channel, actor, "Ended the mute")
    return Done(f"{channel}: no longer muted.")


def remove(channel: Channel, actor: Actor) -> Done:
    _record(channel, actor, "Removed", flag=history.DELETION)
    channel.delete()
    return Done(f"{channel.name}: removed.")


def _question(channel: Channel) -> str:
    rules = channel.rules.count()
    if not rules:
        return f"Remove the channel {channel.name}?"
    which = "A rule uses" if rules == 1 else f"{rules:,} rules use"
    return f"Remove the channel {channel.name}? {which} it, and will no longer tell it anything."


ACTS = {
    "test": Act(test, CHANGE),
    "mute": Act(mute_channel, CHANGE),
    "unmute": Act(_unmute, CHANGE),
    "remove": Act(remove, _DELETE, asks=_question, button="Remove", leaves=True),
}
_OWN_ACTS = for_own(ACTS, VIEW)


def acts_on(channel: Channel) -> Mapping[str, Act]:
    """Of a channel that the person sees."""
    return _OWN_ACTS if channel.is_own else ACTS
