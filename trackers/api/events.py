"""The live feed in the API: what happens, as server-sent events (docs/api.md).

Each topic takes the permission of the page that shows the same. It is looked up when a stream
begins, and so again after `EVENT_STREAM_SECONDS`, when the stream ends and its reader comes back.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router
from ninja.errors import AuthorizationError

from trackers.api.wire.auth import VIEW_SOURCES, VIEW_TWEETS, Bearer, SignedIn, user_of
from trackers.api.wire.fields import UnsignedId
from trackers.events.delivery.formats import ROUTEMASTER, Shape
from trackers.events.live.cursor import Cursor, read_cursor
from trackers.events.live.read import Wanted
from trackers.events.live.stream import Terms, busy, stream
from trackers.events.live.watch import watch
from trackers.outbox.models import ALERTS_TOPIC, MILESTONES_TOPIC, SOURCES_TOPIC, TWEETS_TOPIC
from tweetwatch.http.crowds import Crowd, limit_crowd, whole_answer

router = Router(tags=["events"])

_DEFAULT_TOPICS = f"{MILESTONES_TOPIC},{TWEETS_TOPIC}"
_PERMISSIONS = {
    TWEETS_TOPIC: VIEW_TWEETS,
    MILESTONES_TOPIC: VIEW_TWEETS,
    SOURCES_TOPIC: VIEW_SOURCES,
    ALERTS_TOPIC: "trackers.view_queue",
}
# Of other programs' topics.
_OTHER_TOPICS_PERMISSION = "trackers.view_topic"
_MAX_TOPICS = 20


# A browser whose stream is refused by an error would not come back.
limit_crowd(
    Crowd(
        b"/api/v1/events/stream",
        settings.SESSION_COOKIE_NAME.encode(),
        answer=whole_answer(busy(), "text/event-stream", Cache_Control="no-store"),
    )
)
_STREAM_RESPONSE = {
    "responses": {200: {"description": "OK", "content": {"text/event-stream": {"schema": {}}}}}
}


@router.get("/stream", auth=[Bearer(), SignedIn()], openapi_extra=_STREAM_RESPONSE)
def event_stream(
    request: HttpRequest,
    topics: str = _DEFAULT_TOPICS,
    author: UnsignedId | None = None,
    source: UnsignedId | None = None,
    with_data: bool = False,
    after: str = "",
) -> StreamingHttpResponse:
    """Server-sent events, named by their topics. `Last-Event-ID`, or `after`, resumes after that
    event without missing any."""
    start = _start_of(request, after)
    wanted = Wanted(_topics_for(user_of(request), topics), author, source)
    shape = Shape(ROUTEMASTER, with_data, settings.PUBLIC_URL)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(
        stream(start, wanted, shape, _stream_terms(request)),
        content_type="text/event-stream",
        headers=headers,
    )


def _start_of(request: HttpRequest, after: str) -> Cursor | None:
    """The header wins: a browser that reconnects sends it along with the original address."""
    text = request.headers.get("Last-Event-ID", "") or after
    return read_cursor(text) if text else None


def _topics_for(user: User, text: str) -> frozenset[int]:
    """The ids of the requested topics, which are recorded from now on."""
    names = {name.strip() for name in text.split(",")} - {""}
    if not names or len(names) > _MAX_TOPICS:
        raise ValueError(
            f"topics must be 1 to {_MAX_TOPICS} names, comma-separated, such as "
            "topics=tweets,milestones."
        )
    for topic in sorted(names):
        permission = _PERMISSIONS.get(topic, _OTHER_TOPICS_PERMISSION)
        if not user.has_perm(permission):
            raise AuthorizationError(
                message=f"Watching {topic[:60]} requires the permission {permission}; an "
                "administrator can give it."
            )
    return frozenset(watch(names).values())


def _stream_terms(request: HttpRequest) -> Terms:
    # On a server with a single thread, one stream would block everything else.
    places = settings.EVENT_STREAMS if request.META.get("wsgi.multithread") else 0
    seconds = settings.EVENT_STREAM_SECONDS.total_seconds()
    if socket := request.META.get("gunicorn.socket"):
        # A client that does not read would hold the thread for as long as TCP waits.
        socket.settimeout(seconds)
    return Terms(places, seconds)
