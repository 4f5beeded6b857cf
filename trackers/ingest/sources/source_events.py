"""Events of the topic `sources`: a gap, a leak, a source that X hides or shows again.

Each is stored in the transaction of its cause. `url`: its page, below the public address.
"""

from __future__ import annotations

from collections.abc import Iterable

from trackers.outbox.models import SOURCES_TOPIC
from trackers.outbox.publish import NewEvent, publish_events

# Programs that read numbers as floats would lose the last digits of X's ids.
Stretch = tuple[int, int | None, int]


def publish_gaps(gaps: Iterable[Stretch], why: str) -> None:
    """Stretches that were not read: a source, after which id, before which id."""
    publish_events(
        [
            _source_event(source, "gap", why=why, after=after and str(after), before=str(before))
            for source, after, before in gaps
        ]
    )


def publish_leak(source: int, tweets: Iterable[int]) -> None:
    """Tweets that slipped through a poll, and were found later."""
    publish_events([_source_event(source, "leak", tweets=[str(id) for id in tweets])])


def publish_hidden(source: int, before: str, now: str) -> None:
    """Why X hides it, before and now; empty if X shows it."""
    if before != now:
        publish_events(
            [
                _source_event(source, "hidden", why=now)
                if now
                else _source_event(source, "back", why=before)
            ]
        )


def _source_event(source: int, what: str, **more: object) -> NewEvent:
    data = {"source": source, "what": what, **more}
    return NewEvent(SOURCES_TOPIC, "update", url=f"/sources/{source}/", data=data)
