"""An event as a row of the live page: which row, what happened, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from trackers.dashboards.tweet_rows import LABELS
from trackers.dashboards.words import Moment, ago, counted, signed
from trackers.events.delivery.formats import FIGURES_ORDER, EventRow
from trackers.events.live.cursor import Cursor
from trackers.ingest.sources.models import Source
from trackers.outbox.models import ALERTS_TOPIC, MILESTONES_TOPIC, SOURCES_TOPIC, TWEETS_TOPIC
from trackers.tweets.models import Tweet

WORDS = {
    (TWEETS_TOPIC, "create"): ("found", "fresh"),
    (TWEETS_TOPIC, "update"): ("moved", ""),
    (TWEETS_TOPIC, "delete"): ("gone", "gone"),
    (MILESTONES_TOPIC, "create"): ("milestone", "fresh"),
    (ALERTS_TOPIC, "create"): ("alert", "bad"),
}
# Of an alert, by what it is about.
ALERTED = {
    "rule": "Rule",
    "subscriber": "Subscriber",
    "credential": "Credential",
    "project": "Project",
    "namespace": "Queue",
    "isolated": "Queue",
    "stream": "Stream",
}
# What an alert's address is called.
PAGES = {"/operations/": "Operations", "/subscribers/": "Subscribers", "/sources/": "Sources"}
# Of a source, by what its event says.
OF_SOURCE = {
    "gap": ("gap", "warn"),
    "leak": ("leak", "warn"),
    "hidden": ("hidden", "bad"),
    "back": ("back", "fresh"),
}


@dataclass(frozen=True, slots=True)
class Moved:
    """A figure before and after; empty where it is unknown."""

    metric: str
    label: str
    before: str
    after: str
    delta: str
    falls: bool


@dataclass(frozen=True, slots=True)
class Line:
    """`tweet`: its id; empty where it has no page. `link`: for anything else, a page of ours;
    `page`: what that is called.

    `said`: the rest, in words.
    """

    id: str
    badge: str
    mood: str
    at: Moment | None
    tweet: str
    author: str
    handle: str
    text: str
    link: str
    page: str
    said: str
    moved: tuple[Moved, ...]


def line(
    at: Cursor,
    told: EventRow,
    tweets: Mapping[int, Tweet],
    sources: Mapping[int, Source],
    *,
    now: datetime,
) -> Line:
    data = data_of(told)
    badge, mood = word_for(told, data)
    tweet = tweets.get(told.tweet_id) if told.tweet_id is not None else None
    author = tweet.author if tweet else None
    text = getattr(tweet, "tweettext", None)
    happened = time_of(told.t)
    return Line(
        id=str(at),
        badge=badge,
        mood=mood,
        at=ago(happened, now=now) if happened else None,
        tweet=str(tweet.pk) if tweet else "",
        author=(author.name or author.username or f"author {author.pk}") if author else "",
        handle=f"@{author.username}" if author and author.username else "",
        text=text.text if text and tweet and not tweet.gone_at else name_of(told),
        link=told.url if told.url and told.url.startswith("/") else "",
        page=page_of(told, data, sources),
        said=said_of(told, data),
        moved=moved(told),
    )


def data_of(told: EventRow) -> dict[str, object]:
    data: dict[str, object] = orjson.loads(told.data) if told.data else {}
    return data


def source_of(told: EventRow) -> int | None:
    """The id of the source that an event of `sources` is about."""
    id = data_of(told).get("source") if told.topic == SOURCES_TOPIC else None
    return id if isinstance(id, int) else None


def page_of(told: EventRow, data: Mapping[str, object], sources: Mapping[int, Source]) -> str:
    """What a person calls the page that `link` leads to."""
    if (id := source_of(told)) is not None:
        source = sources.get(id)
        return str(source) if source else f"Source {id} (removed)"
    return PAGES.get(told.url or "", told.url or "")


def word_for(told: EventRow, data: Mapping[str, object]) -> tuple[str, str]:
    if told.topic == ALERTS_TOPIC and data.get("state") == "back":
        return OF_SOURCE["back"]
    if (told.topic, told.type) in WORDS:
        return WORDS[told.topic, told.type]
    return OF_SOURCE.get(str(data.get("what", "")), (told.topic, ""))


def name_of(told: EventRow) -> str:
    if told.tweet_id is not None:
        return f"Tweet {told.tweet_id}"
    return told.url or told.topic


def said_of(told: EventRow, data: Mapping[str, object]) -> str:
    """For a milestone what was reached, for other events what their data says."""
    if told.topic == MILESTONES_TOPIC and {"metric", "at", "figure"} <= data.keys():
        at, figure = (counted(int(str(data[one]))) for one in ("at", "figure"))
        return f"{at} {LABELS[str(data['metric'])].lower()} reached, now {figure}"
    if told.topic == ALERTS_TOPIC:
        about = "".join(f"{word} {data[key]}: " for key, word in ALERTED.items() if key in data)
        return f"{about}{data.get('what', '')}"
    if "tweets" in data and isinstance(data["tweets"], list):
        return f"{len(data['tweets'])} tweets were missed by a poll and found later"
    return str(data.get("why", ""))


def moved(told: EventRow) -> tuple[Moved, ...]:
    """The figures that changed, in the order of the list of tweets."""
    if told.figures is None:
        return ()
    count = len(FIGURES_ORDER)
    before = dict(zip(FIGURES_ORDER, told.figures[:count], strict=True))
    after = dict(zip(FIGURES_ORDER, told.figures[count:], strict=True))
    return tuple(
        changed(metric, before[metric], after[metric])
        for metric in LABELS
        if before[metric] != after[metric]
    )


def changed(metric: str, before: int | None, after: int | None) -> Moved:
    delta = after - before if before is not None and after is not None else 0
    return Moved(
        metric,
        LABELS[metric],
        "–" if before is None else counted(before),
        "–" if after is None else counted(after),
        signed(delta),
        delta < 0,
    )


def time_of(t: int) -> datetime | None:
    """None for a publisher's impossible time, in a year that does not exist."""
    try:
        return datetime.fromtimestamp(t / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
