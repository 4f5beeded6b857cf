"""The bodies of deliveries: a batch's events, in order, in the format that its subscriber wants.

Routemaster: `[{"topic", "type", "url", "t"[, "data"]}, …]`, as its Ruby, Go and Elixir clients
expect it: exactly this content type, and never an empty list. CloudEvents: a JSON batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from tweetwatch.clock_times import iso

ROUTEMASTER, CLOUDEVENTS = "routemaster", "cloudevents"
_CONTENT_TYPES = {
    ROUTEMASTER: "application/json",
    CLOUDEVENTS: "application/cloudevents-batch+json; charset=utf-8",
}
# In the order of an event's figures: six before, six after.
FIGURES_ORDER = ("retweets", "replies", "likes", "quotes", "bookmarks", "views")


class EventRow(NamedTuple):
    """An event as it is stored.

    A tuple, since tens of thousands are read a second: a dataclass takes three times as long.
    """

    id: int
    topic: str
    type: str
    t: int
    tweet_id: int | None
    url: str | None
    figures: Sequence[int | None] | None
    data: str | None  # JSON, as the database wrote it
    scores: Sequence[float | None] | None  # of a tweet's last age, in FIGURES_ORDER


@dataclass(frozen=True, slots=True)
class Shape:
    format: str
    with_data: bool
    public_url: str  # the address of this installation for programs

    @property
    def content_type(self) -> str:
        return _CONTENT_TYPES[self.format]

    def body_of(self, events: Sequence[EventRow]) -> bytes:
        if not events:
            raise ValueError("A batch without events is never sent.")
        return orjson.dumps([self.of(event) for event in events])

    def of(self, event: EventRow) -> dict[str, Any]:
        """One event in this format."""
        return self._cloud_event(event) if self.format == CLOUDEVENTS else self._routemaster(event)

    def _routemaster(self, event: EventRow) -> dict[str, Any]:
        shaped = {
            "topic": event.topic,
            "type": event.type,
            "url": self._url_of(event),
            "t": event.t,
        }
        if (data := self._data_of(event)) is not None:
            shaped["data"] = data
        return shaped

    def _cloud_event(self, event: EventRow) -> dict[str, Any]:
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

    def _url_of(self, event: EventRow) -> str:
        """Never empty: Routemaster's clients refuse a batch with an empty url."""
        if event.url and not event.url.startswith("/"):
            return event.url
        if event.tweet_id is not None and not event.url:
            return f"{self.public_url}/api/v1/tweets/{event.tweet_id}"
        # A page of ours.
        return f"{self.public_url}{event.url or '/'}"

    def _data_of(self, event: EventRow) -> Any:
        """The data published with it; for a tweet its figures, if the subscriber wants them."""
        if event.data is not None:
            return orjson.Fragment(event.data)
        if not self.with_data or event.figures is None:
            return None
        count = len(FIGURES_ORDER)
        before = dict(zip(FIGURES_ORDER, event.figures[:count], strict=True))
        now = dict(zip(FIGURES_ORDER, event.figures[count:], strict=True))
        data: dict[str, Any] = {**now, "before": before}
        if event.scores:
            data["scores"] = {
                metric: round(score, 2)
                for metric, score in zip(FIGURES_ORDER, event.scores, strict=True)
                if score is not None
            }
        return data


def time_of(t: int) -> str | None:
    """The time in RFC 3339; None beyond the year 9999."""
    try:
        at = datetime.fromtimestamp(t / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return iso(at, to="milliseconds")
