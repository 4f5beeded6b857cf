"""The bodies of deliveries: events of a batch, in their order, as their subscriber wants them.

Routemaster: `[{"topic", "type", "url", "t"[, "data"]}, …]`, as its Ruby, Go and Elixir clients read
it: exactly this content type, and never an empty list. CloudEvents: a batch in its JSON format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

ROUTEMASTER, CLOUDEVENTS = "routemaster", "cloudevents"
CONTENT_TYPES = {
    ROUTEMASTER: "application/json",
    CLOUDEVENTS: "application/cloudevents-batch+json; charset=utf-8",
}
# In the order of an event's figures: six before, six after.
METRICS = ("retweets", "replies", "likes", "quotes", "bookmarks", "impressions")


class Told(NamedTuple):
    """An event as it is stored. `data`: JSON, as the database wrote it.

    Tens of thousands are read a second, and a tuple is made in a third of a dataclass's time.
    """

    id: int
    topic: str
    type: str
    t: int
    tweet_id: int | None
    url: str | None
    figures: Sequence[int | None] | None
    data: str | None


@dataclass(frozen=True, slots=True)
class Shape:
    """`public_url`: where programs find this installation."""

    format: str
    with_data: bool
    public_url: str

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES[self.format]

    def body_of(self, events: Sequence[Told]) -> bytes:
        if not events:
            raise ValueError("A batch without events is never sent.")
        return orjson.dumps([self.of(event) for event in events])

    def of(self, event: Told) -> dict[str, Any]:
        """One of them."""
        return self._cloud_event(event) if self.format == CLOUDEVENTS else self._routemaster(event)

    def _routemaster(self, event: Told) -> dict[str, Any]:
        shaped = {
            "topic": event.topic,
            "type": event.type,
            "url": self._url_of(event),
            "t": event.t,
        }
        if (data := self._data_of(event)) is not None:
            shaped["data"] = data
        return shaped

    def _cloud_event(self, event: Told) -> dict[str, Any]:
        data = {"url": self._url_of(event), "t": event.t}
        if (more := self._data_of(event)) is not None:
            data["data"] = more
        shaped = {
            "specversion": "1.0",
            "id": str(event.id),
            "source": self.public_url,
            "type": f"{event.topic}.{event.type}",
            "datacontenttype": "application/json",
            "data": data,
        }
        if (time := time_of(event.t)) is not None:
            shaped["time"] = time
        if event.tweet_id is not None:
            shaped["subject"] = str(event.tweet_id)
        return shaped

    def _url_of(self, event: Told) -> str:
        """Never empty, since Routemaster's clients refuse a batch in which one is."""
        if event.url and not event.url.startswith("/"):
            return event.url
        if event.tweet_id is not None and not event.url:
            return f"{self.public_url}/api/v1/tweets/{event.tweet_id}"
        # A page of ours.
        return f"{self.public_url}{event.url or '/'}"

    def _data_of(self, event: Told) -> Any:
        """What was published with it; of a tweet its figures, for those who want them."""
        if event.data is not None:
            return orjson.Fragment(event.data)
        if not self.with_data or event.figures is None:
            return None
        count = len(METRICS)
        before = dict(zip(METRICS, event.figures[:count], strict=True))
        now = dict(zip(METRICS, event.figures[count:], strict=True))
        return {**now, "before": before}


def time_of(t: int) -> str | None:
    """As RFC 3339 has it; None of a time beyond the years that have four digits."""
    try:
        at = datetime.fromtimestamp(t / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
