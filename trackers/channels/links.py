"""The link of a message under which a person may mute: signed, and good for a week.

It depends on the message alone, so that a message that is sent again is the same.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.core.signing import BadSignature, Signer

from trackers.channels.models import ChannelMessage

_GOOD_FOR = timedelta(days=7)
_SIGNER = Signer(salt="channels.mute")


def mute_key(message: int) -> str:
    return _SIGNER.sign(str(message))


def message_of_key(key: str, *, now: datetime) -> ChannelMessage | None:
    """None: the key was not made here, or the message is too old or gone."""
    try:
        id = int(_SIGNER.unsign(key))
    except (BadSignature, ValueError):
        return None
    messages = ChannelMessage.objects.select_related("channel", "notice__rule")
    return messages.filter(pk=id, made_at__gt=now - _GOOD_FOR).defer("channel__address").first()
