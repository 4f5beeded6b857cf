"""Store events in the transaction of their cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from trackers.outbox.staging import RECORDED
from tweetwatch.database import cursor
from tweetwatch.statements import statement

PUBLISH_EVENTS = statement(__file__, "publish", recorded=RECORDED)


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event about a tweet or an address."""

    topic: str
    type: str
    url: str | None = None
    tweet_id: int | None = None
    t: int | None = None  # milliseconds since 1970; None: now
    data: Any = None


def publish_events(events: Sequence[NewEvent]) -> None:
    """Store them, in this order; those of our own topics only if somebody wants the topic."""
    if not events:
        return
    with cursor() as db:
        db.execute(
            PUBLISH_EVENTS,
            {
                "topics": [event.topic for event in events],
                "types": [event.type for event in events],
                "ts": [event.t for event in events],
                "tweets": [event.tweet_id for event in events],
                "urls": [event.url for event in events],
                "data": [None if event.data is None else Jsonb(event.data) for event in events],
            },
        )
