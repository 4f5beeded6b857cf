"""What waits for channels: added, claimed, and settled once it was sent.

enqueue ─> claim_channels ─ attempts + 1, next_at ahead ─> load ─> POST ─> settle
At least once: if a process is killed after the service took a message and before `settle`, it is
sent again, with the same key, by which Matrix shows it once.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Func, IntegerField, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, Concat, Greatest, Left, Now, NullIf
from django.utils import timezone

from trackers.channels.links import mute_key
from trackers.channels.message import Line, Message, joined
from trackers.channels.models import GIVEN_UP_AFTER, MAX_REASON, Channel, ChannelMessage
from trackers.channels.quiet_hours import quiet_people
from trackers.channels.shapes import SHAPES
from trackers.channels.shapes.shape import Reading
from trackers.credentials.secrets import SecretUnreadableError, decrypt
from trackers.events.delivery.call import Call
from trackers.xapi.keys import Secrets
from tweetwatch.database import LOST, cursor
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

_FIRST_WAIT, _LONGEST_BACKOFF = timedelta(minutes=1), timedelta(hours=1)
_GIVEN_UP = "Given up after a day. "
_NO_ADDRESS = str(SecretUnreadableError())
# Of one message: more than these are only counted.
_MOST_JOINED = 100

_CLAIM = statement(__file__, "claim")
_State = ChannelMessage.State


@dataclass(frozen=True, slots=True)
class Claimed:
    """A channel to which a message is to be sent now."""

    claim: int
    id: int
    name: str
    kind: str
    attempt: int  # from 1
    upto: int
    is_test: bool
    parts: Secrets
    call: Call | None  # None: its address cannot be read


def enqueue(channels: Iterable[Channel], *, now: datetime, **fields: Any) -> list[ChannelMessage]:
    """A message for each channel; `fields`: of ChannelMessage. Of a muted channel it is only
    logged."""
    made = []
    for channel in channels:
        message = ChannelMessage(channel=channel, made_at=now, **fields)
        if channel.muted_until and channel.muted_until > now and not message.is_test:
            message.state = _State.GIVEN_UP
            message.error = "The channel is muted, so it was not sent."
        made.append(message)
    return ChannelMessage.objects.bulk_create(made)


def claim_channels(slots: int, lease: timedelta, *, public_url: str) -> list[Claimed]:
    """Claim the channels that are due, at most this many, and whose persons have no quiet hours
    now; the lease must outlast a request."""
    claim = secrets.randbits(63)
    params = {
        "slots": slots, "claim": claim, "lease": lease,
        "first": _FIRST_WAIT, "longest": _LONGEST_BACKOFF,
        "quiet": [person.pk for person in quiet_people(now=timezone.now())],
    }  # fmt: skip
    with cursor() as db:
        rows = db.execute(_CLAIM, params).fetchall()
    claimed = []
    for row in rows:
        try:
            loaded = _loaded(claim, *row, public_url=public_url)
        except LOST:
            raise
        except Exception:
            # It is tried again later, and holds up no other channel.
            logger.exception("a message to the channel %s could not be made", row[1])
            continue
        if loaded is not None:
            claimed.append(loaded)
    return claimed


def _loaded(
    claim: int,
    id: int,
    name: str,
    kind: str,
    address: str,
    attempt: int,
    upto: int,
    *,
    public_url: str,
) -> Claimed | None:
    """None: what waited was given up meanwhile."""
    waiting = ChannelMessage.objects.filter(_sent_together(id, upto))
    rows = list(waiting.order_by("pk")[:_MOST_JOINED])
    if not rows:
        return None
    is_test = rows[-1].is_test
    try:
        parts = decrypt(address)
    except SecretUnreadableError:
        return Claimed(claim, id, name, kind, attempt, upto, is_test, Secrets({}), None)
    message = joined([_message_of(row, public_url=public_url) for row in rows])
    if len(rows) == _MOST_JOINED:
        message = _with_more(message, _said_by(waiting.filter(pk__gt=rows[-1].pk)))
    key = f"channel-{id}-{upto}-{int(rows[-1].made_at.timestamp())}"
    call = SHAPES[kind].request(parts, message, key)
    return Claimed(claim, id, name, kind, attempt, upto, is_test, parts, call)


def _sent_together(channel: int, upto: int) -> Q:
    """A test goes alone, also where others wait before it."""
    is_test = Exists(ChannelMessage.objects.filter(pk=upto, is_test=True))
    up_to = Q(pk=upto, is_test=True) | Q(~is_test, pk__lte=upto, is_test=False)
    return Q(channel_id=channel, state=_State.WAITING) & up_to


def _said_by(messages: QuerySet[ChannelMessage]) -> int:
    """How many alerts these messages are about."""
    lines = Func("lines", function="jsonb_array_length", output_field=IntegerField())
    return messages.aggregate(said=Coalesce(Sum(F("more") + lines), 0))["said"]


def _with_more(message: Message, more: int) -> Message:
    count = len(message.lines) + message.more + more
    return Message(
        f"{count:,} alerts", message.lines, message.more + more, message.log, message.mute
    )


def _message_of(row: ChannelMessage, *, public_url: str) -> Message:
    lines = tuple(
        Line(line["what"], f"{public_url}{line['url']}", line["rule"], line["is_over"])
        for line in row.lines
    )
    mute = "" if row.is_test else f"{public_url}/alerts/mute/{mute_key(row.pk)}/"
    return Message(row.title, lines, row.more, f"{public_url}/alerts/log/", mute)


def settle(claimed: Claimed, reading: Reading) -> None:
    """Store what came of it. Only the claim that was last says how the channel is."""
    channel = Channel.objects.filter(pk=claimed.id, claim=claimed.claim)
    messages = ChannelMessage.objects.filter(_sent_together(claimed.id, claimed.upto))
    shape = SHAPES[claimed.kind]
    with transaction.atomic():
        if not reading.why:
            messages.update(state=_State.SENT, sent_at=Now(), error="")
            channel.update(
                claim=None, sending_upto=None, attempts=0, next_at=Now() + shape.every,
                sent_at=Now(), failing_since=None, stopped_at=None, reason="",
            )  # fmt: skip
            return
        why = reading.why[:MAX_REASON]
        if claimed.is_test:
            messages.update(state=_State.GIVEN_UP, error=why)
        else:
            # A long backlog is not written anew at each attempt.
            messages.exclude(error=why).update(error=why)
        wait = reading.wait or timedelta(0)
        if reading.is_throttled and reading.wait is not None:
            # It says when it takes more: that is no failure.
            channel.update(
                claim=None, attempts=claimed.attempt - 1, next_at=Now() + max(wait, shape.every)
            )
            return
        later = (
            Now() + max(wait, shape.every) if claimed.is_test else Greatest("next_at", Now() + wait)
        )
        channel.update(claim=None, reason=why, next_at=later)
        channel_now = Channel.objects.filter(pk=claimed.id)
        channel_now.filter(failing_since=None).update(failing_since=Now())
        if reading.is_gone and not shape.is_typed:
            # What a browser gave cannot be mended: it asks again, with a new address.
            for gone in channel_now:
                gone.delete()
        elif reading.is_gone:
            channel_now.filter(stopped_at=None).update(stopped_at=Now())


def give_up_old() -> int:
    """Give up what has waited for a day; returns how many."""
    old = ChannelMessage.objects.filter(state=_State.WAITING, made_at__lte=Now() - GIVEN_UP_AFTER)
    why = Coalesce(NullIf("error", Value("")), Value("Start manage.py deliver, which sends them."))
    return old.update(state=_State.GIVEN_UP, error=Left(Concat(Value(_GIVEN_UP), why), MAX_REASON))


def unreadable() -> Reading:
    return Reading(why=_NO_ADDRESS)
