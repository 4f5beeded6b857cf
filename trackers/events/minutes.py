"""Events in each minute of the last hour: published in a topic, delivered to a subscriber.

A row per minute in which there were any, so that nothing here grows with events. The spread writes
those of topics (`spread.py`), the end of deliveries those of subscribers (`delivery/settle.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from tweetwatch.database import cursor

MINUTES_SHOWN = 60
# The rate of one minute jumps; that of an hour lags behind.
_LATELY = 5
_MINUTES_KEPT_FOR = timedelta(minutes=MINUTES_SHOWN + 5)


@dataclass(frozen=True, slots=True)
class Hour:
    """Events in each of the last sixty minutes, the oldest first; the last one is not over yet."""

    minutes: tuple[int, ...] = (0,) * MINUTES_SHOWN

    @property
    def per_minute(self) -> float:
        """The mean of the last five minutes that are over."""
        return sum(self.minutes[-_LATELY - 1 : -1]) / _LATELY

    @property
    def events(self) -> int:
        return sum(self.minutes)


# `ago`: 0 is the current minute.
_LAST_HOUR = """
    SELECT {of}, (extract(epoch FROM date_trunc('minute', now()) - minute) / 60)::int AS ago, events
    FROM {table}
    WHERE minute > date_trunc('minute', now()) - interval '1 hour'
      AND (%(of)s::bigint IS NULL OR {of} = %(of)s)
"""
_OF_TOPICS = _LAST_HOUR.format(of="topic_id", table="trackers_topicminute")
_OF_SUBSCRIBERS = _LAST_HOUR.format(of="subscriber_id", table="trackers_subscriberminute")
_PRUNE_MINUTES = (
    "DELETE FROM trackers_topicminute WHERE minute < now() - %(kept)s",
    "DELETE FROM trackers_subscriberminute WHERE minute < now() - %(kept)s",
)


def hours_of_topics() -> Mapping[int, Hour]:
    """By the ids of topics, those in which anything was published within the hour."""
    return _hours(_OF_TOPICS, None)


def hours_of_subscribers(subscriber: int | None = None) -> Mapping[int, Hour]:
    """By the ids of subscribers to whom anything was delivered within the hour; or of one."""
    return _hours(_OF_SUBSCRIBERS, subscriber)


def _hours(statement: str, of: int | None) -> Mapping[int, Hour]:
    counts: dict[int, list[int]] = {}
    with cursor() as db:
        for id, ago, events in db.execute(statement, {"of": of}):
            # The clock may have been set back: later minutes count as the current one.
            place = MINUTES_SHOWN - 1 - max(0, ago)
            counts.setdefault(id, [0] * MINUTES_SHOWN)[place] += events
    return {id: Hour(tuple(minutes)) for id, minutes in counts.items()}


def prune_event_minutes() -> None:
    """Delete what is older than the hour."""
    with cursor() as db:
        for one in _PRUNE_MINUTES:
            db.execute(one, {"kept": _MINUTES_KEPT_FOR})
