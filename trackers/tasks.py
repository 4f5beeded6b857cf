"""The only file where stages meet: what the cluster calls, by its dotted name.

A task loads, calls one stage, and says what follows. Settings enter here and are passed down.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings

from trackers.ingest.found import Found, Rejected
from trackers.ingest.import_part import import_parts
from trackers.ingest.lines import read
from trackers.ingest.poll import Polled, poll
from trackers.ingest.sources import add as add_source
from trackers.ingest.sources import change as change_source
from trackers.ingest.sources import pause as pause_sources
from trackers.ingest.sources import poll_now as poll_sources_now
from trackers.ingest.sources import remove as remove_sources
from trackers.ingest.sources import resume as resume_sources
from trackers.ingest.start import forget_unfinished
from trackers.ingest.start import start as start_import
from trackers.ingest.start import try_again as try_import_again
from trackers.ingest.state import Polling
from trackers.ingest.track import Chunk, track_stream
from trackers.ingest.upload import upload as upload_file
from trackers.jobs import figures, heartbeats, holds, queue, tallies
from trackers.jobs.queue import Batch
from trackers.jobs.vacuum import vacuum
from trackers.schedule import intervals
from trackers.schedule.replan import replan
from trackers.schedule.steer import pause, refresh_now, resume, retry_isolated, untrack
from trackers.tweets import pack, partitions
from trackers.updater import authors
from trackers.updater.ration import ration
from trackers.updater.refresh import Asking, Failed, Refreshed, refresh
from trackers.updater.reserve import Held, Waiting
from trackers.xapi import usage
from tweetwatch.database import together

__all__ = [
    "Tracked",
    "add_source",
    "ask_authors",
    "change_source",
    "compare_usage",
    "import_part",
    "keep_house",
    "pause",
    "pause_sources",
    "poll_and_tell",
    "poll_source",
    "poll_sources_now",
    "polling",
    "ration_money",
    "refresh_now",
    "remove_sources",
    "replan",
    "resume",
    "resume_sources",
    "retry_isolated",
    "start_import",
    "track_found",
    "track_in_chunks",
    "track_lines",
    "try_import_again",
    "untrack",
    "update_tweets",
    "upload_file",
]

logger = logging.getLogger(__name__)


def update_tweets(batch: Batch) -> None:
    """Refresh a claimed batch of tweets, and put on hold what must wait."""
    asking = Asking(
        base_url=settings.X_API_BASE_URL,
        timeout=settings.REQUEST_TIMEOUT,
        confirm_gone_after=settings.CONFIRM_GONE_AFTER,
        gone_every=settings.GONE_EVERY,
    )
    outcome = refresh(batch, asking)
    match outcome:
        case Refreshed():
            # Locks: the namespace's row, and one that is this process's own.
            with together():
                holds.succeed(batch.namespace)
                tell_refreshed(outcome)
        case Held():
            holds.hold(batch.namespace, until=outcome.until, because=outcome.because)
            queue.release(outcome.batch)
            # While the headers of a first request are awaited, it is a matter of milliseconds.
            long = outcome.until > (batch.claimed_at or outcome.until) + timedelta(seconds=1)
            logger.log(
                logging.WARNING if long else logging.DEBUG,
                "gave %d tweets back, nothing is asked until %s: %s",
                len(outcome.batch.keys),
                outcome.until.isoformat(timespec="seconds"),
                outcome.because,
            )
        case Failed():
            give_back(outcome)
        case Waiting():
            pass  # Put off already, until there is money.


def give_back(failed: Failed) -> None:
    """Back into the queue: at once when another credential may do better, else after a while."""
    batch = failed.batch
    wait = timedelta(0)
    if failed.until:
        holds.hold(batch.namespace, until=failed.until, because=failed.because)
    elif not failed.known:
        wait = holds.fail(batch.namespace, because=failed.because)
    queue.release(batch, timedelta(0) if failed.another_may else wait)
    tallies.count(batch.namespace, tallies.Done(failed=len(batch.keys), late=batch.late))
    logger.warning(
        "gave %d tweets back, credential %s: %s",
        len(batch.keys),
        failed.credential,
        failed.because,
    )


def tell_refreshed(done: Refreshed) -> None:
    batch, answer, saved = done.batch, done.answer, done.saved
    measured, missing = len(saved.ours & answer.posts.keys()), len(answer.missing)
    tallies.count(
        batch.namespace,
        tallies.Done(
            asked=len(batch.keys),
            measured=measured,
            changed=len(saved.changes),
            missing=missing,
            late=batch.late,
        ),
    )
    logger.info(
        "refreshed %d of %d tweets, %d changed, %d missing, %d broken, %d not ours any more, "
        "credential %s has %s requests left",
        measured,
        len(batch.keys),
        len(saved.changes),
        missing,
        len(answer.broken),
        len(batch.keys) - len(saved.ours),
        done.credential,
        answer.window.remaining if answer.window else "unknown",
    )
    for id, reason in answer.broken.items():
        logger.warning("tweet %d came back broken and is asked again: %s", id, reason)


def poll_source(batch: Batch) -> None:
    """Ask for the next page of a source, and store it with all that follows from it."""
    poll_and_tell(batch)


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


def poll_and_tell(batch: Batch) -> Polled:
    """The same, for those who want to know what it came to."""
    polled = poll(batch, polling())
    measured = polled.stored.measured + polled.stored.new if polled.stored else 0
    tallies.count(
        batch.namespace,
        tallies.Done(
            asked=polled.shown, measured=measured, failed=int(polled.failed), late=batch.late
        ),
    )
    level = logging.WARNING if polled.failed else logging.INFO
    logger.log(level, "polled %s: %s", polled.source, polled.said)
    return polled


@dataclass(slots=True)
class Tracked:
    """What became of the lines read so far."""

    read: int = 0
    tracked: int = 0
    already: int = 0
    rejected: list[Rejected] = field(default_factory=list)


def track_in_chunks(
    lines: Iterable[str], *, came_from: str, format: str = "auto"
) -> Iterator[Chunk]:
    """Track the tweets that the lines name; the counts of each chunk once it is committed.

    The rejected ones of a chunk come with it and are not kept here.
    """
    return track_found(read(lines, format=format), came_from=came_from)


def track_found(stream: Iterable[Found | Rejected], *, came_from: str) -> Iterator[Chunk]:
    """Track what a reader found; the counts of each chunk once it is committed."""
    return track_stream(stream, came_from=came_from)


def track_lines(lines: Iterable[str], *, came_from: str) -> Tracked:
    """Track the tweets that some pasted lines name; all counts and every rejected line."""
    total = Tracked()
    for chunk in track_in_chunks(lines, came_from=came_from):
        total.read += chunk.read
        total.tracked += chunk.tracked
        total.already += chunk.already
        total.rejected += chunk.rejected
    return total


def import_part(batch: Batch) -> None:
    """Import the claimed parts of uploaded files."""
    for done in import_parts(batch):
        logger.info(
            "imported a part of the %s from line %d: %d read, %d tracked, %d rejected",
            done.source,
            done.first_line,
            done.read,
            done.tracked,
            done.rejected,
        )


def ask_authors() -> None:
    """Every minute: names of new authors, and why tweets are hidden."""
    told = authors.ask_authors(base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT)
    if told:
        logger.info("X told of %d authors", told)


def ration_money() -> None:
    """Every minute: where the day's money is short, how much older tweets leave to younger ones."""
    now, plan = intervals.current()
    if short := ration(plan, now=now):
        logger.info("the day's money is short, the oldest tweets wait: %s", ", ".join(short))


def compare_usage() -> None:
    """Every hour: what X says it billed, beside our own count."""
    usage.compare_all(base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT)


def keep_house() -> None:
    """Every few minutes: queues vacuumed, partitions made, samples packed, old figures gone."""
    vacuum()
    now, _ = intervals.current()
    made = partitions.make_ahead(now=now)
    packed = pack.pack(now=now)
    if settings.SAMPLE_RETENTION_DAYS:
        pack.retire(older_than=timedelta(days=settings.SAMPLE_RETENTION_DAYS), now=now)
    figures.forget_old()
    heartbeats.forget_the_silent()
    forget_unfinished(now)
    logger.info("kept house: %d partitions made, %d packed and dropped", made, packed)
