"""What is moving now: the newest events, and those announced by the page's stream.

The stream only says that something happened; the rows come from here, by the same cursor, rendered
like all others.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from trackers.dashboards import access
from trackers.dashboards.access import needs
from trackers.dashboards.parts import part_of, render_parts
from trackers.dashboards.words import Moment, ago, commas, signed
from trackers.events.delivery.formats import FIGURES_ORDER, EventRow
from trackers.events.live.cursor import Cursor, read_cursor
from trackers.events.live.read import Wanted, first_read, newest_events, newest_place
from trackers.events.live.watch import watch
from trackers.ingest.sources.models import Source
from trackers.outbox.models import ALERTS_TOPIC, MILESTONES_TOPIC, SOURCES_TOPIC, TWEETS_TOPIC
from trackers.schedule.intervals import current
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Tweet

# Rows on the page; older ones are removed.
_MAX_LIVE_ROWS = 100
# What each topic is about, for those who may see that elsewhere.
_TOPIC_PERMISSIONS = {SOURCES_TOPIC: access.VIEW_SOURCES, ALERTS_TOPIC: access.VIEW_OPERATIONS}
_CHOICES = {
    "": ("Everything", (TWEETS_TOPIC, MILESTONES_TOPIC, SOURCES_TOPIC, ALERTS_TOPIC)),
    TWEETS_TOPIC: ("Tweets", (TWEETS_TOPIC,)),
    MILESTONES_TOPIC: ("Milestones", (MILESTONES_TOPIC,)),
    SOURCES_TOPIC: ("Sources and alerts", (SOURCES_TOPIC, ALERTS_TOPIC)),
}
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
class LiveRows:
    lines: list[LiveRow]
    after: Cursor  # the cursor for the next rows


@require_safe
@needs(access.VIEW_TWEETS)
def live(request: HttpRequest) -> HttpResponse:
    """Its part `rows`: what came after the cursor `after`, up to a hundred, the newest."""
    topics = _topics_of(request)
    after = Cursor(0) if part_of(request) is None else _after_of(request)
    now, _ = current()

    def read() -> dict[str, object]:
        live_rows = _read_rows(topics, after, now=now)
        return {"lines": live_rows.lines, "after": str(live_rows.after)}

    def frame() -> dict[str, object]:
        show = request.GET.get("show", "")
        stream = urlencode({"topics": ",".join(topics)})
        return {
            "choices": [
                (key, words, reverse("live") + (f"?show={key}" if key else ""))
                for key, (words, choice_topics) in _CHOICES.items()
                if _allowed(request, choice_topics)
            ],
            "show": show,
            "most": _MAX_LIVE_ROWS,
            "stream": f"{reverse('api:event_stream')}?{stream}",
            "rows": f"{reverse('live')}?{urlencode({'part': 'rows', 'show': show})}",
        }

    page = "dashboards/live/page.html"
    return render_parts(request, page, {"rows": read}, shared={"now": now}, frame=frame)


def _after_of(request: HttpRequest) -> Cursor:
    try:
        return read_cursor(request.GET.get("after", ""))
    except ValueError as error:
        raise Http404(str(error)) from None


def _topics_of(request: HttpRequest) -> tuple[str, ...]:
    show = request.GET.get("show", "")
    if show not in _CHOICES:
        raise Http404(f"{show[:80]!r} cannot be shown here.")
    topics = _allowed(request, _CHOICES[show][1])
    if not topics:
        access.require_permission(request, access.VIEW_SOURCES)
    return topics


def _allowed(request: HttpRequest, topics: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        topic
        for topic in topics
        if topic not in _TOPIC_PERMISSIONS or request.user.has_perm(_TOPIC_PERMISSIONS[topic])
    )


def _read_rows(topics: tuple[str, ...], after: Cursor, *, now: datetime) -> LiveRows:
    wanted = Wanted(frozenset(watch(topics).values()))
    newest_place()
    # Before reading: the stream announces anything in between once more, and its rows are the same.
    reached = first_read(None).reached
    events = newest_events(after, wanted)
    ids = {event.tweet_id for _, event in events if event.tweet_id is not None}
    tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(ids)
    named = {id for _, event in events if (id := _event_source(event)) is not None}
    sources = Source.objects.in_bulk(named)
    lines = [_live_row(at, event, tweets, sources, now=now) for at, event in events]
    return LiveRows(lines, max(reached, events[0][0]) if events else max(reached, after))


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


def _live_row(
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
        text=text.displayed if text and tweet and not tweet.gone_at else _event_name(event),
        link=event.url if event.url and event.url.startswith("/") else "",
        page=_page_name(event, data, sources),
        details=_describe_event(event, data),
        moved=_changed_metrics(event),
    )


def _event_data(event: EventRow) -> dict[str, object]:
    data: dict[str, object] = orjson.loads(event.data) if event.data else {}
    return data


def _event_source(event: EventRow) -> int | None:
    """The id of the source that an event of `sources` is about."""
    id = _event_data(event).get("source") if event.topic == SOURCES_TOPIC else None
    return id if isinstance(id, int) else None


def _page_name(event: EventRow, data: Mapping[str, object], sources: Mapping[int, Source]) -> str:
    """What a person calls the page that `link` leads to."""
    if (id := _event_source(event)) is not None:
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
    if event.topic == MILESTONES_TOPIC and {"metric", "at", "value"} <= data.keys():
        at, figure = (commas(int(str(data[name]))) for name in ("at", "value"))
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
        commas(before),
        commas(after),
        signed(delta),
        delta < 0,
    )


def _event_time(t: int) -> datetime | None:
    """None for a publisher's impossible time, in a year that does not exist."""
    try:
        return datetime.fromtimestamp(t / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
