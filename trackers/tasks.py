"""The only file where stages meet: the cluster calls these functions by dotted name.

A task loads, calls one stage, and says what follows. Settings enter here and are passed down.
"""

from __future__ import annotations

import logging
from datetime import UTC, timedelta
from functools import partial

from django.conf import settings

from trackers.alerts import mail
from trackers.alerts.digest import make_digests
from trackers.alerts.forget import forget_notices
from trackers.alerts.judge import judge
from trackers.bus import keys
from trackers.credentials.usage import ask_all_usage
from trackers.events import audit as books
from trackers.events import keep
from trackers.events.drop import drop_oldest
from trackers.events.live.open import forget_silent
from trackers.events.live.watch import forget_old
from trackers.events.minutes import forget_minutes
from trackers.events.spread import spread
from trackers.events.subscribers import standing
from trackers.events.subscribers.subscribe import forget_removed
from trackers.forecasts import keep as forecasts
from trackers.ingest.files.import_part import import_parts
from trackers.ingest.files.importing import forget_unfinished
from trackers.ingest.polls.state import Polling
from trackers.ingest.polls.step import Polled, poll, tell_polled
from trackers.ingest.sources import days as source_days
from trackers.ingest.sources import life
from trackers.ingest.sources.forget import forget_closed_gaps, forget_old_yields
from trackers.ingest.sources.only_here import still_only_here
from trackers.ingest.stream.looks import looks as stream_looks
from trackers.jobs import (
    ahead,
    begun,
    failures,
    figures,
    ordinary,
    pausing,
    queue,
    schedules,
    tallies,
)
from trackers.jobs.audit import put_right
from trackers.jobs.begun import begins
from trackers.jobs.looks import looks as queue_looks
from trackers.jobs.observed import database, minutes
from trackers.jobs.observed import tasks as noted
from trackers.jobs.processes import heartbeats
from trackers.jobs.queue import Batch
from trackers.jobs.schedules import tell_forgotten
from trackers.jobs.vacuum import vacuum
from trackers.milestones import forget as crossings
from trackers.outbox import troubles
from trackers.schedule import bulk, census, intervals, replan, stretched
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.schedule.restretch import restretch
from trackers.timelines import deliver, expiry, feeds, idle, leaving
from trackers.timelines import settings as feed_settings
from trackers.timelines.feeds import embedding, following, tally
from trackers.tokens import api_answers
from trackers.tweets import pack
from trackers.tweets.movers import keep as movers
from trackers.tweets.movers import places
from trackers.tweets.partitions import SAMPLES
from trackers.tweets.tags import ending as tags
from trackers.updater import authors
from trackers.updater.follow import follow
from trackers.updater.ration import ration
from trackers.updater.refresh import Asking, refresh
from tweetwatch.pieces import Deadline
from tweetwatch.sessions import forget_sessions as forget_expired_sessions

logger = logging.getLogger(__name__)


@begins
def update_tweets(batch: Batch) -> None:
    """Refresh a claimed batch of tweets, and put on hold what must wait."""
    asking = Asking(
        base_url=settings.X_API_BASE_URL,
        timeout=settings.REQUEST_TIMEOUT,
        confirm_gone_after=settings.CONFIRM_GONE_AFTER,
        gone_every=settings.GONE_EVERY,
    )
    follow(batch, refresh(batch, asking))


@begins
def poll_source(batch: Batch) -> None:
    """Ask for the next page of a source; store it and everything that follows from it."""
    polled = poll_and_tell(batch)
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


def poll_and_tell(batch: Batch) -> Polled:
    """The same, for callers that want the outcome."""
    polled = poll(batch, polling())
    tell_polled(batch, polled)
    return polled


@begins
def import_part(batch: Batch) -> None:
    """Import the claimed parts of uploaded files."""
    imported = import_parts(batch)
    tallies.count(batch.namespace, tallies.BatchDone(measured=len(imported), late=batch.late))


@begins
def deliver_arrivals(batch: Batch) -> None:
    """Put what came from the claimed origins into the homes that follow them."""
    delivered = deliver.deliver(batch, deadline=time_for_a_chore())
    tallies.count(batch.namespace, tallies.BatchDone(measured=len(delivered), late=batch.late))
    deliver.tell(delivered)


@begins
def rebuild_feeds(batch: Batch) -> None:
    """Rebuild the claimed watchers' homes."""
    for watcher_id in batch.keys:
        feeds.rebuild(watcher_id)
    queue.finish(batch, {})
    tallies.count(batch.namespace, tallies.BatchDone(measured=len(batch.keys), late=batch.late))


def ask_authors() -> None:
    """Every minute: look up names of new authors, and why tweets are hidden."""
    if pausing.paused_all():
        return
    told = authors.ask_authors(base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT)
    if told:
        logger.info("X told of %d authors", told)


def ration_money() -> None:
    """Every minute: if the day's money is short, set how much older tweets leave to younger."""
    now, plan = intervals.current()
    if short := ration(plan, now=now):
        logger.info("the day's money is short, the oldest tweets wait: %s", ", ".join(short))


def stretch_intervals() -> None:
    """Every minute: if X's windows are too short for all looks, adapting intervals are longer."""
    now, plan = intervals.current()
    stretched.note(restretch(plan, now=now))


def forecast_days() -> None:
    """Every minute: what came today, and from time to time what is expected of it and tomorrow."""
    now, plan = intervals.current()
    forecasts.keep(plan, now=now, gone_every=settings.GONE_EVERY)


def go_on_replanning(turn: int) -> None:
    """After the intervals changed: re-plan what waits, for a third of a task's time."""
    replan.go_on(turn, at_most=min(replan.A_TASK, timedelta(seconds=settings.TASK_TIMEOUT / 3)))


def watch_replanning() -> None:
    """Every minute: a re-planning, or an act on many tweets, whose worker died continues."""
    if replan.find_lost():
        logger.warning("the task that re-planned was lost, another one goes on")
    if lost := bulk.find_lost():
        logger.warning("%d tasks with acts on many tweets were lost, others go on", lost)


def go_on_with_bulk_act(id: int, turn: int) -> None:
    """After a person chose many tweets: pieces of them, for a third of a task's time."""
    act = bulk.find(id)
    if act is None:
        return
    source = act.source
    is_done = bulk.go_on(
        act,
        turn,
        at_most=min(bulk.A_TASK, timedelta(seconds=settings.TASK_TIMEOUT / 3)),
        sieve=partial(still_only_here, source=source) if source is not None else None,
    )
    if not is_done:
        return
    if source is not None:
        # Last, so that what is left of it after a crash is found by the task that follows.
        life.remove([source])
    bulk.finish(act)
    logger.info("done by %s: %s", act.by or "nobody known", act)


def sweep_tags() -> None:
    """Every hour, and soon after a person merged or removed a tag: its rows moved or deleted."""
    worked = tags.sweep(deadline=time_for_a_chore())
    tell_forgotten(worked, "rows of tags that ended", task="trackers.tasks.sweep_tags")


def compare_usage() -> None:
    """Every hour: compare what X says it billed with our own count."""
    if pausing.paused_all():
        return
    ask_all_usage(base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT)


def take_figures() -> None:
    """Every few seconds, in a cluster's main process: update the figures of pages and `status`."""
    for namespace in sorted(queue.namespaces()):
        figures.take(namespace, then=minutes.note)
    ahead.take(TWEET_UPDATE)
    database.note()
    now, plan = intervals.current()
    census.take(plan, now=now)


# Housekeeping. Each chore is a task with its own schedule (migration 0013), so that none waits for
# another; a chore that is already running elsewhere is left to that run. Long ones stop between two
# transactions when their time is over, and run again soon.


def time_for_a_chore() -> Deadline:
    """Half of a task's time; the other half is for the longest single piece of a chore."""
    return Deadline.after(settings.TASK_TIMEOUT / 2)


def vacuum_queues() -> None:
    """Every few minutes: clear the queues of dead rows."""
    if done := vacuum():
        logger.info("vacuumed %s", ", ".join(done))


def make_partitions() -> None:
    """Every few minutes: create the partitions of coming days."""
    now, _ = intervals.current()
    if made := SAMPLES.make_ahead(now=now) + keep.make_ahead(now=now):
        logger.info("made %d partitions", made)


def pack_samples() -> None:
    """Every few minutes, and again soon while some are left: pack the samples of past days."""
    now, _ = intervals.current()
    packed = pack.pack(now=now, deadline=time_for_a_chore())
    if packed.rows or packed.dropped:
        logger.info("packed %d samples and dropped %d partitions", packed.rows, packed.dropped)
    if packed.left:
        schedules.run_soon("trackers.tasks.pack_samples")
        logger.info("packing goes on soon: about %d samples are left", packed.left)


def keep_movers() -> None:
    """Every minute: the lists of what grows fastest."""
    now, _ = intervals.current()
    movers.keep(now=now, deadline=time_for_a_chore())
    places.remember(now=now)


def retire_samples() -> None:
    """Every hour: drop months of samples past SAMPLE_RETENTION_DAYS, if that is set."""
    if not settings.SAMPLE_RETENTION_DAYS:
        return
    now, _ = intervals.current()
    kept_for = timedelta(days=settings.SAMPLE_RETENTION_DAYS)
    worked = pack.retire(older_than=kept_for, now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "tweets' months of samples", task="trackers.tasks.retire_samples")


def forget_tallies() -> None:
    """Every hour: the figures of the hours that are over kept, those of the day before yesterday
    gone, with acts that ended a month ago and forecasts of more than a year ago."""
    minutes.keep_hours()
    figures.forget_old()
    noted.forget_old()
    database.forget_old()
    bulk.forget_old()
    stretched.forget_old()
    now, _ = intervals.current()
    forecasts.forget_old(today=now.astimezone(UTC).date())


def forget_silent_workers() -> None:
    """Every few minutes: delete the heartbeats of vanished clusters, and marks of work that their
    workers began over a week ago."""
    heartbeats.forget_the_silent()
    begun.forget_old()


def forget_uploads() -> None:
    """Every hour: delete uploads that broke off, or that nobody started."""
    now, _ = intervals.current()
    forget_unfinished(now)


def forget_failed_tasks() -> None:
    """Every hour: delete django-q2's records of failures after two weeks."""
    now, _ = intervals.current()
    worked = failures.forget_failures(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "failed tasks", task="trackers.tasks.forget_failed_tasks")


def forget_sessions() -> None:
    """Every hour: sessions of people that have expired gone."""
    now, _ = intervals.current()
    worked = forget_expired_sessions(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "sessions", task="trackers.tasks.forget_sessions")


def audit_queues() -> None:
    """Every hour: put back keys that no claim would find, and delete dead entries."""
    deadline = time_for_a_chore()
    for namespace in sorted(queue.namespaces()):
        put_right(namespace, deadline=deadline)


def forget_gaps() -> None:
    """Every hour: delete gaps that were closed a month ago."""
    now, _ = intervals.current()
    worked = forget_closed_gaps(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "closed gaps", task="trackers.tasks.forget_gaps")


def forget_yields() -> None:
    """Every hour: forget which source brought what after three months, unless it is needed."""
    now, _ = intervals.current()
    source_days.forget_old(today=now.astimezone(UTC).date())
    worked = forget_old_yields(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "yields", task="trackers.tasks.forget_yields")


def forget_crossings() -> None:
    """Every hour: forget which tweets reached milestones, while nobody subscribes to that."""
    worked = crossings.forget_crossings(deadline=time_for_a_chore())
    tell_forgotten(worked, "crossings", task="trackers.tasks.forget_crossings")


def drop_idle_feeds() -> None:
    """Every hour: drop the stored homes of those who have long not looked, what deleted watchers
    left, arrivals delivered long ago, and what homes keep of hidden tweets."""
    deadline = time_for_a_chore()
    task = "trackers.tasks.drop_idle_feeds"
    leaving.forget_left()
    following.forget_unfollowed()
    tally.forget_old()
    tell_forgotten(idle.drop_idle(deadline=deadline), "homes", task=task)
    tell_forgotten(deliver.forget_delivered(deadline=deadline), "arrivals", task=task)
    if feed_settings.current().embed:
        hidden = embedding.forget_hidden(deadline=deadline)
        tell_forgotten(hidden, "embedded texts", task=task)


def tend_subscribers() -> None:
    """Every minute: events spread where nobody delivers, the oldest dropped where too much waits,
    subscribers disabled to whom nothing can be delivered, and removed ones forgotten. Of the live
    feed, its processes and the counts by the minute what is older than an hour."""
    spread()
    forget_old(deadline=time_for_a_chore())
    forget_silent()
    forget_minutes()
    drop_oldest(most_bytes=settings.BUS_STORAGE_MOST, deadline=time_for_a_chore())
    for name in standing.disable_failing(after=settings.BUS_DISABLE_AFTER):
        logger.warning("subscriber %s is disabled: every delivery failed for too long", name)
    forget_removed()


def audit_books() -> None:
    """Every hour: the books of subscribers compared with their batches, and set right."""
    books.mend()


def alert_people() -> None:
    """Every minute: what has been wrong for a minute is an alert, and that it is over another; and
    what people's rules find."""
    now, _ = intervals.current()
    built_in = [*queue_looks(), *stream_looks(now=now)]
    for news in judge(built_in, now=now, deadline=time_for_a_chore().halfway()):
        logger.warning("alert: %s", news.data)
    if written := make_digests(now=now):
        logger.info("wrote %d daily digests", written)
    if mail.waits():
        ordinary.enqueue("trackers.tasks.send_mail")


def send_mail() -> None:
    """Each minute in which e-mails of alerts wait: send them, outside of every transaction."""
    public_url, deadline = settings.PUBLIC_URL, time_for_a_chore()
    sent = mail.send(settings.EMAIL_SERVER, public_url=public_url, deadline=deadline)
    if sent.given_up:
        logger.error(
            "%d e-mails of alerts were given up: the log of alerts says why", sent.given_up
        )


def forget_alerts() -> None:
    """Every hour: the log of alerts after three months, and pauses of rules that are over."""
    now, _ = intervals.current()
    troubles.forget_rested(now=now)
    worked = forget_notices(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "alerts", task="trackers.tasks.forget_alerts")


def forget_events() -> None:
    """Every hour: delete days of events and attempts a week after they end, and old keys."""
    now, _ = intervals.current()
    if dropped := keep.forget(now=now):
        logger.info("dropped %d days of events and attempts", dropped)
    strays = keep.forget_strays(now=now, deadline=time_for_a_chore())
    tell_forgotten(strays, "events and attempts", task="trackers.tasks.forget_events")
    published = keys.KEPT.forget(now=now, deadline=time_for_a_chore())
    tell_forgotten(published, "keys of publications", task="trackers.tasks.forget_events")
    answers = api_answers.KEPT.forget(now=now, deadline=time_for_a_chore())
    tell_forgotten(answers, "answers of the API", task="trackers.tasks.forget_events")


def expire_timelines() -> None:
    """Every hour: delete timelines that nobody has read for long, and old tombstones."""
    unread = timedelta(days=settings.TIMELINE_IDLE_DAYS)
    timelines, tombstones = expiry.expire_in_pieces(idle=unread, deadline=time_for_a_chore())
    tell_forgotten(timelines, "unread timelines", task="trackers.tasks.expire_timelines")
    tell_forgotten(tombstones, "tombstones", task="trackers.tasks.expire_timelines")
