"""An event as a row of the live page: which row, what happened, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from trackers.dashboards.tweet_rows import LABELS
from trackers.dashboards.words import Moment, ago, commas, signed
from trackers.events.delivery.formats import FIGURES_ORDER, EventRow
from trackers.events.live.cursor import Cursor
from trackers.ingest.sources.models import Source
from trackers.outbox.models import ALERTS_TOPIC, MILESTONES_TOPIC, SOURCES_TOPIC, TWEETS_TOPIC
from trackers.tweets.models import Tweet

_EVENT_BADGES = {
    (TWEETS_TOPIC, "create"): ("found", "fresh"),
    (TWEETS_TOPIC, "update"): ("moved", ""),
    (TWEETS_TOPIC, "delete"): ("gone", "gone"),
    (MILESTONES_TOPIC, "create"): ("milestone", "fresh"),
    (ALERTS_TOPIC, "create"): ("alert", "bad"),
}
# Of an alert, by what it is about.
_ALERT_SUBJECTS = {
    "rule": "Rule",
    "subscriber": "Subscriber",
    "credential": "Credential",
    "project": "Project",
    "queue": "Queue",
    "isolated": "Queue",
    "stream": "Stream",
}
# What an alert's address is called.
_PAGE_NAMES = {"/operations/": "Operations", "/subscribers/": "Subscribers", "/sources/": "Sources"}
# Of a source, by what its event says.
_SOURCE_BADGES = {
    "gap": ("gap", "warn"),
    "leak": ("leak", "warn"),
    "hidden": ("hidden", "bad"),
    "back": ("back", "fresh"),
}


@dataclass(frozen=True, slots=True)
class ChangedMetric:
    """A figure before and after; empty where it is unknown."""

    metric: str
    label: str
    before: str
    after: str
    delta: str
    falls: bool


@dataclass(frozen=True, slots=True)
class LiveRow:
    id: str
    badge: str
    mood: str
    at: Moment | None
    tweet: str  # its id; empty where it has no page
    author: str
    handle: str
    text: str
    link: str  # for anything else, a page of ours
    page: str  # what that is called
    details: str  # the rest, in words
    moved: tuple[ChangedMetric, ...]


def live_row(
    at: Cursor,
    event: EventRow,
    tweets: Mapping[int, Tweet],
    sources: Mapping[int, Source],
    *,
    now: datetime,
) -> LiveRow:
    data = _event_data(event)
    badge, mood = _badge_of(event, data)
    tweet = tweets.get(event.tweet_id) if event.tweet_id is not None else None
    author = tweet.author if tweet else None
    text = getattr(tweet, "tweettext", None)
    happened = _event_time(event.t)
    return LiveRow(
        id=str(at),
        badge=badge,
        mood=mood,
        at=ago(happened, now=now) if happened else None,
        tweet=str(tweet.pk) if tweet else "",
        author=(author.name or author.username or f"author {author.pk}") if author else "",
        handle=f"@{author.username}" if author and author.username else "",
        text=text.text if text and tweet and not tweet.gone_at else _event_name(event),
        link=event.url if event.url and event.url.startswith("/") else "",
        page=_page_name(event, data, sources),
        details=_describe_event(event, data),
        moved=_changed_metrics(event),
    )


def _event_data(event: EventRow) -> dict[str, object]:
    data: dict[str, object] = orjson.loads(event.data) if event.data else {}
    return data


def event_source(event: EventRow) -> int | None:
    """The id of the source that an event of `sources` is about."""
    id = _event_data(event).get("source") if event.topic == SOURCES_TOPIC else None
    return id if isinstance(id, int) else None


def _page_name(event: EventRow, data: Mapping[str, object], sources: Mapping[int, Source]) -> str:
    """What a person calls the page that `link` leads to."""
    if (id := event_source(event)) is not None:
        source = sources.get(id)
        return str(source) if source else f"Source {id} (removed)"
    return _PAGE_NAMES.get(event.url or "", event.url or "")


def _badge_of(event: EventRow, data: Mapping[str, object]) -> tuple[str, str]:
    if event.topic == ALERTS_TOPIC and data.get("state") == "back":
        return _SOURCE_BADGES["back"]
    if (event.topic, event.type) in _EVENT_BADGES:
        return _EVENT_BADGES[event.topic, event.type]
    return _SOURCE_BADGES.get(str(data.get("what", "")), (event.topic, ""))


def _event_name(event: EventRow) -> str:
    if event.tweet_id is not None:
        return f"Tweet {event.tweet_id}"
    return event.url or event.topic


def _describe_event(event: EventRow, data: Mapping[str, object]) -> str:
    """For a milestone what was reached, for other events what their data says."""
    if event.topic == MILESTONES_TOPIC and {"metric", "at", "figure"} <= data.keys():
        at, figure = (commas(int(str(data[name]))) for name in ("at", "figure"))
        return f"{at} {LABELS[str(data['metric'])].lower()} reached, now {figure}"
    if event.topic == ALERTS_TOPIC:
        about = "".join(
            f"{word} {data[key]}: " for key, word in _ALERT_SUBJECTS.items() if key in data
        )
        return f"{about}{data.get('what', '')}"
    if "tweets" in data and isinstance(data["tweets"], list):
        return f"{len(data['tweets'])} tweets were missed by a poll and found later"
    return str(data.get("why", ""))


def _changed_metrics(event: EventRow) -> tuple[ChangedMetric, ...]:
    """The figures that changed, in the order of the list of tweets."""
    if event.figures is None:
        return ()
    count = len(FIGURES_ORDER)
    before = dict(zip(FIGURES_ORDER, event.figures[:count], strict=True))
    after = dict(zip(FIGURES_ORDER, event.figures[count:], strict=True))
    return tuple(
        _changed_metric(metric, before[metric], after[metric])
        for metric in LABELS
        if before[metric] != after[metric]
    )


def _changed_metric(metric: str, before: int | None, after: int | None) -> ChangedMetric:
    delta = after - before if before is not None and after is not None else 0
    return ChangedMetric(
        metric,
        LABELS[metric],
        "–" if before is None else commas(before),
        "–" if after is None else commas(after),
        signed(delta),
        delta < 0,
    )


def _event_time(t: int) -> datetime | None:
    """None for a publisher's impossible time, in a year that does not exist."""
    try:
        return datetime.fromtimestamp(t / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
