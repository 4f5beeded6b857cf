"""What is done every hour: what is no longer needed goes, and books are audited.

Each is a task with its own schedule, so that none waits for another; one that is already running
elsewhere is left to that run. Long ones stop between two transactions when their time is
over, and run again soon.
"""

from __future__ import annotations

import logging
from datetime import UTC, timedelta

from django.conf import settings

from trackers.alerts.notice import prune_notices
from trackers.credentials.usage import ask_all_usage
from trackers.events import audit as books
from trackers.events import prune
from trackers.forecasts import update as forecasts
from trackers.happenings import prune as happenings
from trackers.ingest.files.importing import prune_unstarted_uploads
from trackers.ingest.sources import days as source_days
from trackers.ingest.sources.prune import prune_closed_gaps, prune_old_yields
from trackers.jobs import begun, pausing, queue, statistics, upkeep
from trackers.jobs.audit import mend_queue
from trackers.jobs.clock_jumps import is_clock_believed, while_clock_is_believed
from trackers.jobs.observed import database, minutes
from trackers.jobs.observed import tasks as noted
from trackers.jobs.ordinary import log_pruned, run_soon
from trackers.jobs.processes import heartbeats
from trackers.milestones import crossings
from trackers.outbox import findings
from trackers.rollups import audit as rollups
from trackers.rollups.update import retire_rollups
from trackers.schedule import bulk, intervals
from trackers.schedule.stretch import history as stretch_history
from trackers.sets.leaderboards import update as leaderboards
from trackers.sets.leaderboards.large import prune_large
from trackers.shares import look_up as shares
from trackers.shares.models import Share
from trackers.timelines import deliver, expiry, removed_followers
from trackers.timelines import settings as feed_settings
from trackers.timelines.homes import embedding, following, read_counts
from trackers.timelines.homes.strategies import drop_idle
from trackers.tokens import idempotency
from trackers.tweets import pack, presence
from trackers.tweets.archive.erase import erase
from trackers.tweets.archive.layout import archived_before
from trackers.tweets.archive.store import configured
from trackers.tweets.archive.write import archive_months
from trackers.tweets.tags import acts as tags
from tweetwatch.pieces import periodic_task_deadline
from tweetwatch.retention import prune_sessions as prune_expired_sessions

logger = logging.getLogger(__name__)


def sweep_tags() -> None:
    """Every hour, and soon after a person merged or removed a tag: move or delete its rows."""
    worked = tags.sweep_ended(deadline=periodic_task_deadline())
    log_pruned(worked, "rows of tags that ended", task="trackers.tasks.sweep_tags")


def compare_usage() -> None:
    """Every hour: compare what X says it billed with our own count."""
    if pausing.paused_all():
        return
    ask_all_usage(base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT)


@while_clock_is_believed
def archive_samples() -> None:
    """Every hour, and again soon while there is more: move old months to ARCHIVE, if that is
    set, and make files anew that have tweets which people removed."""
    if (store := configured()) is None:
        return
    now, _ = intervals.current()
    before = archived_before(now, settings.ARCHIVE_OLDER_THAN)
    worked = archive_months(store, before=before, deadline=periodic_task_deadline().halfway())
    if worked.samples:
        logger.info("archived %d samples in %d files", worked.samples, worked.files)
    if erased := erase(store, now=now, deadline=periodic_task_deadline().halfway()):
        logger.info("made %d files of the archive anew, without untracked tweets", erased)
    if not (worked.is_done or worked.is_elsewhere):
        run_soon("trackers.tasks.archive_samples")


@while_clock_is_believed
def retire_samples() -> None:
    """Every hour: drop months of samples past SAMPLE_RETENTION_DAYS, if that is set."""
    if not settings.SAMPLE_RETENTION_DAYS:
        return
    now, _ = intervals.current()
    kept_for = timedelta(days=settings.SAMPLE_RETENTION_DAYS)
    # With an archive, samples go there first, and stay in it.
    are_archived = bool(settings.ARCHIVE)
    worked = pack.retire(
        older_than=kept_for,
        now=now,
        deadline=periodic_task_deadline(),
        samples_too=not are_archived,
    )
    log_pruned(worked, "tweets' months of samples", task="trackers.tasks.retire_samples")
    worked = retire_rollups(now=now, deadline=periodic_task_deadline())
    log_pruned(worked, "rollups", task="trackers.tasks.retire_samples")


def prune_counters() -> None:
    """Every hour: sum up the hours that are over; prune the counters of the day before yesterday,
    acts that ended a month ago, and forecasts of more than a year ago."""
    minutes.sum_up_hours()
    if not is_clock_believed("prune_counters"):
        return
    statistics.prune_counters()
    noted.prune_noted_tasks()
    database.prune_database_minutes()
    bulk.prune_acts()
    stretch_history.prune_stretches()
    now, _ = intervals.current()
    forecasts.prune_forecasts(today=now.astimezone(UTC).date())


def prune_silent_workers() -> None:
    """Every few minutes: delete the heartbeats of vanished clusters, and marks of work that their
    workers began over a week ago."""
    heartbeats.prune_silent_clusters()
    if is_clock_believed("prune_silent_workers", every=timedelta(minutes=5)):
        begun.prune_marks()


@while_clock_is_believed
def prune_uploads() -> None:
    """Every hour: delete uploads that broke off, or that nobody started."""
    now, _ = intervals.current()
    prune_unstarted_uploads(now)


@while_clock_is_believed
def prune_failed_tasks() -> None:
    """Every hour: delete django-q2's records of failures after two weeks."""
    now, _ = intervals.current()
    worked = upkeep.prune_failures(now=now, deadline=periodic_task_deadline())
    log_pruned(worked, "failed tasks", task="trackers.tasks.prune_failed_tasks")


@while_clock_is_believed
def prune_sessions() -> None:
    """Every hour: delete people's expired sessions."""
    now, _ = intervals.current()
    worked = prune_expired_sessions(now=now, deadline=periodic_task_deadline())
    log_pruned(worked, "sessions", task="trackers.tasks.prune_sessions")


def audit_queues() -> None:
    """Every hour: put back keys that no claim would find, and delete dead entries."""
    deadline = periodic_task_deadline()
    for name in sorted(queue.job_classes()):
        mend_queue(name, deadline=deadline)


@while_clock_is_believed
def prune_gaps() -> None:
    """Every hour: delete gaps that were closed a month ago."""
    now, _ = intervals.current()
    worked = prune_closed_gaps(now=now, deadline=periodic_task_deadline())
    log_pruned(worked, "closed gaps", task="trackers.tasks.prune_gaps")


@while_clock_is_believed
def prune_yields() -> None:
    """Every hour: delete yields after three months, unless they are needed."""
    now, _ = intervals.current()
    source_days.prune_days(today=now.astimezone(UTC).date())
    worked = prune_old_yields(now=now, deadline=periodic_task_deadline())
    log_pruned(worked, "yields", task="trackers.tasks.prune_yields")


def prune_crossings() -> None:
    """Every hour: delete the milestones that tweets reached, while nobody subscribes to that."""
    worked = crossings.prune_crossings(deadline=periodic_task_deadline())
    log_pruned(worked, "crossings", task="trackers.tasks.prune_crossings")


@while_clock_is_believed
def look_up_shared() -> None:
    """Every hour: tweets in a share that were not looked up for a day, also those that rest. Shares
    that nobody could open for three months go."""
    now, _ = intervals.current()
    if looked := shares.look_up_shared(now=now):
        logger.info("%d tweets are looked up, since they are shared", looked)
    Share.objects.long_over(now=now).delete()


def prune_happenings() -> None:
    """Every hour: delete what happened more than thirty days ago."""
    now, _ = intervals.current()
    worked = happenings.prune_happenings(now=now, deadline=periodic_task_deadline())
    log_pruned(worked, "happenings", task="trackers.tasks.prune_happenings")


@while_clock_is_believed
def drop_idle_homes() -> None:
    """Every hour: drop the stored homes of those who have not looked for long, what deleted
    followers left, arrivals delivered long ago, and what homes keep of hidden tweets."""
    deadline = periodic_task_deadline()
    task = "trackers.tasks.drop_idle_homes"
    removed_followers.prune_removed_homes()
    following.prune_unfollowed()
    read_counts.prune_home_reads()
    log_pruned(drop_idle(deadline=deadline), "homes", task=task)
    log_pruned(deliver.prune_arrivals(deadline=deadline), "arrivals", task=task)
    if feed_settings.home_settings().embed:
        hidden = embedding.prune_hidden(deadline=deadline)
        log_pruned(hidden, "embedded texts", task=task)


def audit_presences() -> None:
    """Every hour: compare how many tweets X shows, by our counts, with the tweets."""
    now, _ = intervals.current()
    presence.audit_presences(now=now, deadline=periodic_task_deadline())


def audit_rollups() -> None:
    """Every hour: compare sums of sets with a recount."""
    now, _ = intervals.current()
    rollups.audit_rollups(now=now, deadline=periodic_task_deadline())


def update_leaderboards() -> None:
    """Every quarter of an hour, for those that are not of this hour: lists of sets."""
    now, _ = intervals.current()
    leaderboards.update_leaderboards(now=now, deadline=periodic_task_deadline())
    prune_large(now=now)


def audit_books() -> None:
    """Every hour: compare the books of subscribers with their batches, and correct them."""
    books.mend()


@while_clock_is_believed
def prune_alerts() -> None:
    """Every hour: delete logged alerts after three months, and pauses of rules that are over."""
    now, _ = intervals.current()
    findings.prune_rested(now=now)
    worked = prune_notices(now=now, deadline=periodic_task_deadline())
    log_pruned(worked, "alerts", task="trackers.tasks.prune_alerts")


@while_clock_is_believed
def prune_events() -> None:
    """Every hour: delete days of events and attempts a week after they end, and old keys."""
    now, _ = intervals.current()
    if dropped := prune.prune_events(now=now):
        logger.info("dropped %d days of events and attempts", dropped)
    strays = prune.prune_strays(now=now, deadline=periodic_task_deadline())
    log_pruned(strays, "events and attempts", task="trackers.tasks.prune_events")
    for retention in idempotency.RETENTIONS:
        pruned = retention.prune(now=now, deadline=periodic_task_deadline())
        log_pruned(pruned, retention.what, task="trackers.tasks.prune_events")


@while_clock_is_believed
def expire_timelines() -> None:
    """Every hour: delete timelines that nobody has read for long, and old tombstones."""
    unread = timedelta(days=settings.TIMELINE_IDLE_DAYS)
    timelines, tombstones = expiry.expire_in_pieces(idle=unread, deadline=periodic_task_deadline())
    log_pruned(timelines, "unread timelines", task="trackers.tasks.expire_timelines")
    log_pruned(tombstones, "tombstones", task="trackers.tasks.expire_timelines")
