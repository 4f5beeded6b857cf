"""A channel as programs see it: never its address."""

from __future__ import annotations

from typing import Any

from trackers.channels.models import Channel
from tweetwatch.clock_times import iso


def channel_json(channel: Channel) -> dict[str, Any]:
    return {
        "id": channel.pk,
        "name": channel.name,
        "kind": channel.kind,
        "place": channel.place,
        "state": channel.state,
        "own": channel.is_own,
        "reason": channel.reason,
        "failing_since": iso(channel.failing_since),
        "sent_at": iso(channel.sent_at),
    }
