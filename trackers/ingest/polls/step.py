"""One step of a poll: one request to X, and one transaction for everything it brought.

source ─> the reading under way, or the next one ─> a request and its money ─> a page ─> stored
A step that dies is simply repeated; no transaction is open while X is asked.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from trackers.credentials.preflight import keys_for
from trackers.ingest.polls.next_sweep import begin_next
from trackers.ingest.polls.pages import ask_for
from trackers.ingest.polls.reservation import (
    PageGrant,
    Wait,
    billed,
    reserve_page,
    settle_failed,
    settle_page,
)
from trackers.ingest.polls.resolve import resolve
from trackers.ingest.polls.row_lock import end_claim, held, save_held
from trackers.ingest.polls.state import Polling, asked_of, rules_of, sweep_of
from trackers.ingest.polls.store_page import Brought, StoredPage, store
from trackers.ingest.polls.sweep import Sweep
from trackers.ingest.polls.trouble import fail, misname, put_off
from trackers.ingest.sources.models import Source
from trackers.jobs import counters, queue, task_time
from trackers.jobs.observed import tasks as noted
from trackers.jobs.queue import Batch
from trackers.schedule import intervals
from trackers.tweets.record import mark_paid
from trackers.tweets.snowflake import born_at
from trackers.xapi.errors import XError
from trackers.xapi.page import Page
from trackers.xapi.timelines import read_page
from tweetwatch.database import DatabaseClock, retry_while_lost

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Polled:
    """What a step achieved."""

    source: str
    outcome: str
    posts: int = 0  # posts on the page
    stored: StoredPage | None = None  # None when nothing was written
    failed: bool = False


def poll(batch: Batch, polling: Polling) -> Polled:
    """The next step of the source whose poll was claimed."""
    batch = _alone(batch)
    # Taken before the database's time: a measurement is never dated before X made it.
    began = time.monotonic()
    now, plan = intervals.current()
    source = Source.objects.filter(pk=batch.keys[0]).first()
    if source is None or source.paused_at or not _is_read(source):
        queue.finish(batch, {})
        return Polled(str(source or batch.keys[0]), "it is no longer read")
    try:
        if asked_of(source) is None:
            return Polled(str(source), resolve(batch, source, polling, now=now))
    except ValueError as mistake:
        misname(batch, source, str(mistake))
        return Polled(str(source), str(mistake), failed=True)
    if not source.sweep:
        begun = _begin_reading(batch, source, polling, now=now)
        if begun is None:
            return Polled(str(source), "nothing is due")
        source = begun
    return _read_next_page(batch, source, polling, DatabaseClock(now, began), plan=plan)


def report_poll(batch: Batch, polled: Polled) -> None:
    """Report it to the queue's metrics and to the log."""
    measured = polled.stored.measured + polled.stored.new if polled.stored else 0
    counters.count_batch(
        batch.queue,
        counters.BatchDone(
            asked=polled.posts, measured=measured, failed=int(polled.failed), late=batch.late
        ),
    )
    if polled.failed:
        noted.failed_because(f"{polled.source}: {polled.outcome}")
    level = logging.WARNING if polled.failed else logging.INFO
    logger.log(level, "polled %s: %s", polled.source, polled.outcome)


def _alone(batch: Batch) -> Batch:
    """Keep one source: each asks X, and a task's time is short. The others become due at once."""
    if len(batch.keys) == 1:
        return batch
    queue.release(replace(batch, keys=batch.keys[1:]))
    return replace(batch, keys=batch.keys[:1])


def _is_read(source: Source) -> bool:
    """A stream is read only to fill its gaps."""
    return source.is_polled or source.kind == Source.Kind.STREAM


def _begin_reading(
    batch: Batch, source: Source, polling: Polling, *, now: datetime
) -> Source | None:
    """The source with the reading it has begun; None if there is nothing to read: its job waits."""
    with held(batch, source) as row:
        if row is None:
            queue.release(batch)
            return None
        delay = begin_next(row, polling, now=now)
        if row.sweep is None:
            end_claim(batch, row, delay)
            return None
        save_held(row)
        return row


def _read_next_page(
    batch: Batch, source: Source, polling: Polling, clock: DatabaseClock, *, plan: intervals.Plan
) -> Polled:
    """Ask for the next page of the reading, and store it."""
    now = clock.last_read
    sweep, rules, of = sweep_of(source), rules_of(source, polling), asked_of(source)
    assert sweep is not None
    assert of is not None
    asked = reserve_page(source, age=_age_of(sweep, now=now), now=now, timeout=polling.timeout)
    if isinstance(asked, Wait):
        delay = put_off(batch, source, asked, sweep, now=now)
        return Polled(str(source), f"waits for {delay}: {asked.because}")
    rules = replace(rules, page_size=asked.payment.posts)
    lease_ends = clock.monotonic_at(batch.expires_at)
    try:
        with keys_for(
            asked.selected,
            base_url=polling.base_url,
            timeout=polling.timeout,
            ends={"its lease": lease_ends, "the days that are paid for": asked.payment.reply_by},
        ) as keys:
            page = read_page(
                keys,
                ask_for(sweep, of, rules),
                base_url=polling.base_url,
                timeout=polling.timeout,
            )
    except XError as error:
        settle_failed(asked, error)
        delay = fail(batch, source, error, sweep, rules, now=now)
        return Polled(str(source), f"waits for {delay}: {error}", failed=True)
    brought = Brought(page, asked, sweep, rules, clock.now())
    until = min(lease_ends, task_time.ends_at())
    return _store_brought(batch, source, brought, polling, plan=plan, until=until)


def _store_brought(
    batch: Batch,
    source: Source,
    brought: Brought,
    polling: Polling,
    *,
    plan: intervals.Plan,
    until: float,
) -> Polled:
    """Store the page that was paid for; what is not settled counts as spent."""
    page, asked = brought.page, brought.asked
    posts = retry_while_lost(lambda: billed(asked, page, source), until=until)
    # If the connection broke after the commit, this is not repeated: the row has lost the lease.
    brought = replace(brought, billed=posts)
    stored = retry_while_lost(lambda: store(batch, source, brought, polling, plan), until=until)
    if stored is None:
        _discard_late_page(batch, asked, page.ids)
    settle_page(asked, page, posts=posts)
    return Polled(str(source), _describe_page(brought.sweep, page, stored), len(page.ids), stored)


def _discard_late_page(batch: Batch, asked: PageGrant, ids: Iterable[int]) -> None:
    """The source was paused, changed or removed, or the lease ran out: only the money counts."""
    mark_paid(ids, day=asked.payment.day, project=asked.payment.project)
    queue.release(batch)


def _age_of(sweep: Sweep, *, now: datetime) -> timedelta:
    """How old the posts to be read are: scarce money is left to the younger ones."""
    if sweep.purpose != "gap" or sweep.until_id is None:
        return timedelta(0)
    return max(now - born_at(sweep.until_id), timedelta(0))


def _describe_page(sweep: Sweep, page: Page, stored: StoredPage | None) -> str:
    if stored is None:
        return f"{len(page.ids)} posts came too late, because it was changed in the meantime"
    return (
        f"{sweep.purpose}, page {sweep.pages + 1}: {len(page.ids)} posts, {stored.new} new, "
        f"{stored.late} late, {stored.measured} measured again"
        f"{', to its end' if stored.is_over else ''}"
    )
