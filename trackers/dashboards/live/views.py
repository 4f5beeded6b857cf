"""What is moving now: the newest events, and those announced by the page's stream.

The stream only says that something happened; the rows come from here, by the same cursor, rendered
like all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from trackers.dashboards import access
from trackers.dashboards.access import needs
from trackers.dashboards.live.rows import LiveRow, event_source, live_row
from trackers.dashboards.parts import part_of, render_parts
from trackers.events.live.cursor import Cursor, read_cursor
from trackers.events.live.read import Wanted, first_read, newest_events, newest_place
from trackers.events.live.watch import watch
from trackers.ingest.sources.models import Source
from trackers.outbox.models import ALERTS_TOPIC, MILESTONES_TOPIC, SOURCES_TOPIC, TWEETS_TOPIC
from trackers.schedule.intervals import current
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
    named = {id for _, event in events if (id := event_source(event)) is not None}
    sources = Source.objects.in_bulk(named)
    lines = [live_row(at, event, tweets, sources, now=now) for at, event in events]
    return LiveRows(lines, max(reached, events[0][0]) if events else max(reached, after))
