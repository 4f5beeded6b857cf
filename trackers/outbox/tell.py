"""Store events in the transaction of their cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from trackers.outbox.staging import RECORDED
from tweetwatch.database import cursor
from tweetwatch.statements import statement

TELL = statement(__file__, "tell", recorded=RECORDED)


@dataclass(frozen=True, slots=True)
class Told:
    """An event, with a `tweet_id` or a `url`. `t`: milliseconds since 1970; None: now."""

    topic: str
    type: str
    url: str | None = None
    tweet_id: int | None = None
    t: int | None = None
    data: Any = None


def tell(events: Sequence[Told]) -> None:
    """Store them, in this order; those of our own topics only if somebody wants the topic."""
    if not events:
        return
    with cursor() as db:
        db.execute(
            TELL,
            {
                "topics": [one.topic for one in events],
                "types": [one.type for one in events],
                "ts": [one.t for one in events],
                "tweets": [one.tweet_id for one in events],
                "urls": [one.url for one in events],
                "data": [None if one.data is None else Jsonb(one.data) for one in events],
            },
        )
