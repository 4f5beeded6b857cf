"""What workers do with a claimed batch, by its queue."""

from __future__ import annotations

from django.conf import settings

from trackers.ingest.files.import_part import import_parts
from trackers.ingest.polls.state import Polling
from trackers.ingest.polls.step import Polled, poll, report_poll
from trackers.jobs import (
    counters,
    queue,
)
from trackers.jobs.begun import marks_begun
from trackers.jobs.queue import Batch
from trackers.timelines import deliver, homes
from trackers.updater.batch_lookup import LookedUp, LookupSettings, look_up_batch
from trackers.updater.settle import settle_batch
from tweetwatch.pieces import periodic_task_deadline


@marks_begun
def update_tweets(batch: Batch) -> bool:
    """Look up a claimed batch of tweets, and put on hold what must wait; whether any was saved."""
    lookup_settings = LookupSettings(
        base_url=settings.X_API_BASE_URL,
        timeout=settings.REQUEST_TIMEOUT,
        confirm_gone_after=settings.CONFIRM_GONE_AFTER,
        gone_every=settings.GONE_EVERY,
    )
    outcome = look_up_batch(batch, lookup_settings)
    settle_batch(batch, outcome)
    return isinstance(outcome, LookedUp) and bool(outcome.answers)


@marks_begun
def poll_source(batch: Batch) -> None:
    """Ask for the next page of a source; store it and everything that follows from it."""
    polled = poll_batch(batch)
    if polled.stored and polled.stored.new:
        deliver.deliver_at_once(*batch.keys)


def polling() -> Polling:
    """How sources are read, by the settings."""
    return Polling(
        base_url=settings.X_API_BASE_URL,
        timeout=settings.REQUEST_TIMEOUT,
        late_timelines=settings.LATE_TIMELINES,
        late_search=settings.LATE_SEARCH,
        overlap_every=settings.OVERLAP_EVERY,
        overlap_depth=settings.OVERLAP_DEPTH,
        overlap_weekly_depth=settings.OVERLAP_WEEKLY_DEPTH,
    )


def poll_batch(batch: Batch) -> Polled:
    """The same, for callers that want the outcome."""
    polled = poll(batch, polling())
    report_poll(batch, polled)
    return polled


@marks_begun
def import_part(batch: Batch) -> None:
    """Import the claimed parts of uploaded files."""
    imported = import_parts(batch)
    counters.count_batch(batch.queue, counters.BatchDone(measured=len(imported), late=batch.late))


@marks_begun
def deliver_arrivals(batch: Batch) -> None:
    """Put what came from the claimed origins into the homes that follow them."""
    delivered = deliver.deliver(batch, deadline=periodic_task_deadline())
    counters.count_batch(batch.queue, counters.BatchDone(measured=len(delivered), late=batch.late))
    deliver.log_delivered(delivered)


@marks_begun
def rebuild_homes(batch: Batch) -> None:
    """Rebuild the claimed followers' homes."""
    for follower_id in batch.keys:
        homes.rebuild(follower_id)
    queue.finish(batch, {})
    counters.count_batch(batch.queue, counters.BatchDone(measured=len(batch.keys), late=batch.late))
