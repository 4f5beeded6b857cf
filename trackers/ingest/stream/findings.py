"""Whether X's stream is down although sources want it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from trackers.ingest.sources.models import Source
from trackers.ingest.sources.status import NO_LISTENER, is_silent
from trackers.ingest.stream.lease import STREAM_NAME
from trackers.ingest.stream.models import Stream
from trackers.outbox.findings import Observation

_URL = "/sources/"


def stream_findings(*, now: datetime) -> Iterator[Observation]:
    """Of the stream alone. It is not down while no source wants it: nothing is missed then."""
    wanted = Source.objects.active().filter(kind=Source.Kind.STREAM).exists()
    stream = Stream.objects.filter(name=STREAM_NAME).first()
    yield Observation(
        "stream",
        STREAM_NAME,
        _wrong(stream, now=now) if wanted else "",
        "It is connected again." if wanted else "No source uses it any more.",
        _URL,
    )


def _wrong(stream: Stream | None, *, now: datetime) -> str:
    if stream is None or stream.state == Stream.State.STOPPED or is_silent(stream, now=now):
        return f"Not connected: {NO_LISTENER}."
    if stream.state == Stream.State.OPEN:
        return ""
    because = stream.because or "X has not answered yet"
    return f"Not connected: {because.rstrip('.')}."
