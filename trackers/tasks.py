"""The only file where stages meet: what the cluster calls, by its dotted name.

A task loads, calls one stage, and says what follows. Settings enter here and are passed down.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings

from trackers.bus.forget_keys import forget_keys
from trackers.credentials.usage import ask_usage
from trackers.events import keep
from trackers.events.drop import drop_oldest
from trackers.events.live.watch import forget_old
from trackers.events.spread import spread
from trackers.events.subscribers import standing
from trackers.events.subscribers.subscribe import forget_removed
from trackers.ingest.files.import_part import import_parts
from trackers.ingest.files.importing import forget_unfinished
from trackers.ingest.polls.state import Polling
from trackers.ingest.polls.step import Polled, poll
from trackers.ingest.sources.forget import forget_closed_gaps, forget_old_yields
from trackers.jobs import begun, failures, figures, holds, queue, room, schedules, tallies
from trackers.jobs.audit import audit
from trackers.jobs.begun import begins
from trackers.jobs.processes import heartbeats
from trackers.jobs.queue import Batch
from trackers.jobs.vacuum import vacuum
from trackers.milestones import forget as crossings
from trackers.money import usage
from trackers.money.projects import Project
from trackers.schedule import census, intervals, replan
from trackers.timelines import deliver, expiry, feeds, idle, leaving
from trackers.timelines import settings as feed_settings
from trackers.timelines.feeds import embedding, following, tally
from trackers.tweets import pack
from trackers.tweets.partitions import SAMPLES
from trackers.updater import authors
from trackers.updater.ration import ration
from trackers.updater.refresh import Asking, Refreshed, refresh, sum_up
from trackers.updater.reserve import Held, Waiting
from tweetwatch.database import together
from tweetwatch.pieces import Deadline, Worked
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
    outcome = refresh(batch, asking)
    match outcome:
        case Refreshed():
            if outcome.failed:
                give_back(outcome)
            if outcome.answers:
                # Locks: the namespace's row, and one that is this process's own.
                with together():
                    holds.succeed(batch.namespace)
                    make_room(outcome)
                    tell_refreshed(outcome)
            for error in outcome.broke:
                raise error
        case Held():
            room.narrow(batch.namespace, outcome.room)
            holds.hold(batch.namespace, until=outcome.until, because=outcome.because)
            queue.put_back(outcome.batch)
            # While the headers of a first request are awaited, or requests are spread, it is a
            # matter of moments.
            long = outcome.until > (batch.claimed_at or outcome.until) + timedelta(minutes=1)
            logger.log(
                logging.WARNING if long else logging.DEBUG,
                "gave %d tweets back, nothing is asked until %s: %s",
                len(outcome.batch.keys),
                outcome.until.isoformat(timespec="seconds"),
                outcome.because,
            )
        case Waiting():
            pass  # Put off already, until there is money.


def make_room(done: Refreshed) -> None:
    """Have the next batches as large as there is room for."""
    if done.room:
        room.narrow(done.batch.namespace, done.room)
    else:
        room.widen(done.batch.namespace)


def give_back(done: Refreshed) -> None:
    """Back into the queue: at once where another credential may do better, else after a while.

    Where nothing was answered the namespace waits as well, longer each time.
    """
    namespace = done.batch.namespace
    cautious = [one for one in done.failed if not one.needs_no_backoff]
    wait = timedelta(0)
    if cautious and done.answers:
        wait = holds.first_wait(namespace)
    elif cautious:
        wait = holds.fail(namespace, because=cautious[0].because)
    for one in done.failed:
        if one.another_may or one.needs_no_backoff:
            queue.put_back(one.batch)
        else:
            queue.release(one.batch, wait)
        late = () if done.answers or one is not done.failed[0] else lateness(done)
        tallies.count(namespace, tallies.BatchDone(failed=len(one.batch.keys), late=late))
        logger.warning(
            "gave %d tweets back, credential %s: %s",
            len(one.batch.keys),
            one.credential,
            one.because,
        )


def lateness(done: Refreshed) -> Sequence[int]:
    """The lateness of those that X was asked for: of a batch for which there was not room for all,
    as large a part of each class as was asked for."""
    batch = done.batch
    asked = sum(len(one.grant.batch.keys) for one in done.answers)
    share = (asked + sum(len(one.batch.keys) for one in done.failed)) / len(batch.keys)
    return batch.late if share == 1 else [round(count * share) for count in batch.late]


def tell_refreshed(done: Refreshed) -> None:
    batch, saved, said = done.batch, done.saved, sum_up(done.answers, done.saved)
    tallies.count(
        batch.namespace,
        tallies.BatchDone(
            requests=len(done.answers),
            asked=said.asked,
            measured=said.measured,
            changed=saved.changed,
            missing=said.missing,
            late=lateness(done),
        ),
    )
    logger.info(
        "refreshed %d of %d tweets in %d requests, %d changed, %d missing, %d broken, "
        "%d counts unreadable, %d not ours any more, requests left: %s",
        said.measured,
        said.asked,
        len(done.answers),
        saved.changed,
        said.missing,
        said.broken,
        said.unread,
        said.asked - len(saved.ours),
        ", ".join(f"{name} {left}" for name, left in said.left.items()),
    )
    if done.unclear:
        id, why = next(iter(done.unclear.items()))
        logger.warning(
            "nothing can be read of %d tweets, which are asked for again, then by their age; "
            "of the first of them, %d: %s",
            len(done.unclear),
            id,
            why,
        )


@begins
def poll_source(batch: Batch) -> None:
    """Ask for the next page of a source, and store it with all that follows from it."""
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
    """The same, for those who want to know what it came to."""
    polled = poll(batch, polling())
    measured = polled.stored.measured + polled.stored.new if polled.stored else 0
    tallies.count(
        batch.namespace,
        tallies.BatchDone(
            asked=polled.shown, measured=measured, failed=int(polled.failed), late=batch.late
        ),
    )
    level = logging.WARNING if polled.failed else logging.INFO
    logger.log(level, "polled %s: %s", polled.source, polled.said)
    return polled


@begins
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


@begins
def deliver_arrivals(batch: Batch) -> None:
    """Put what came from the claimed origins into the homes of those who follow them."""
    for done in deliver.deliver(batch, deadline=time_for_a_chore()):
        if done.tweets:
            logger.info(
                "delivered %d tweets of origin %d into up to %d homes%s",
                done.tweets,
                done.origin_id,
                done.homes,
                "" if done.is_all else ", and there are more",
            )


@begins
def rebuild_feeds(batch: Batch) -> None:
    """Lay the claimed watchers' homes out anew."""
    for watcher_id in batch.keys:
        feeds.rebuild(watcher_id)
    queue.finish(batch, {})


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


def go_on_replanning(turn: int) -> None:
    """After the intervals changed: plan pieces of what waits, for a third of a task's time."""
    replan.go_on(turn, at_most=min(replan.A_TASK, timedelta(seconds=settings.TASK_TIMEOUT / 3)))


def watch_replanning() -> None:
    """Every minute: a re-planning whose worker died goes on."""
    if replan.find_lost():
        logger.warning("the task that re-planned was lost, another one goes on")


def compare_usage() -> None:
    """Every hour: what X says it billed, beside our own count."""
    for project in Project.objects.all():
        told = ask_usage(
            project.pk, base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT
        )
        if isinstance(told, str):
            usage.tell_problem(project, told)
        else:
            usage.keep(project, told)


def take_figures() -> None:
    """Every few seconds, in a cluster's main process: what pages and `status` read."""
    for namespace in sorted(queue.namespaces()):
        figures.take(namespace)
    now, plan = intervals.current()
    census.take(plan, now=now)


# Housekeeping. Each chore is a task with a schedule of its own (migration 0013), so that none waits
# for another; one that is at work elsewhere, or still, is left to that. Long ones stop between two
# transactions when their time is over, and are run again soon.


def time_for_a_chore() -> Deadline:
    """Half of what a task may take: the longest piece of a chore has the other half."""
    return Deadline.after(settings.TASK_TIMEOUT / 2)


def vacuum_queues() -> None:
    """Every few minutes: the queues rid of their dead rows."""
    if done := vacuum():
        logger.info("vacuumed %s", ", ".join(done))


def make_partitions() -> None:
    """Every few minutes: the partitions of the days to come."""
    now, _ = intervals.current()
    if made := SAMPLES.make_ahead(now=now) + keep.make_ahead(now=now):
        logger.info("made %d partitions", made)


def pack_samples() -> None:
    """Every few minutes, and again soon while some are left: samples of days that are over."""
    now, _ = intervals.current()
    packed = pack.pack(now=now, deadline=time_for_a_chore())
    if packed.rows or packed.dropped:
        logger.info("packed %d samples and dropped %d partitions", packed.rows, packed.dropped)
    if packed.left:
        schedules.run_soon("trackers.tasks.pack_samples")
        logger.info("packing goes on soon: about %d samples are left", packed.left)


def retire_samples() -> None:
    """Every hour: months of samples past SAMPLE_RETENTION_DAYS gone, if there is such a limit."""
    if not settings.SAMPLE_RETENTION_DAYS:
        return
    now, _ = intervals.current()
    kept_for = timedelta(days=settings.SAMPLE_RETENTION_DAYS)
    worked = pack.retire(older_than=kept_for, now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "tweets' months of samples", task="trackers.tasks.retire_samples")


def forget_tallies() -> None:
    """Every hour: figures of the day before yesterday gone."""
    figures.forget_old()


def forget_silent_workers() -> None:
    """Every few minutes: the heartbeats of clusters that vanished gone, and the marks of what their
    workers had begun a week ago."""
    heartbeats.forget_the_silent()
    begun.forget_old()


def forget_uploads() -> None:
    """Every hour: uploads that broke off, or that nobody started, gone."""
    now, _ = intervals.current()
    forget_unfinished(now)


def forget_failed_tasks() -> None:
    """Every hour: failures that django-q2 wrote down gone after two weeks."""
    now, _ = intervals.current()
    worked = failures.forget_failures(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "failed tasks", task="trackers.tasks.forget_failed_tasks")


def forget_sessions() -> None:
    """Every hour: sessions of people that have expired gone."""
    now, _ = intervals.current()
    worked = forget_expired_sessions(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "sessions", task="trackers.tasks.forget_sessions")


def audit_queues() -> None:
    """Every hour: keys that no claim would find put back, and dead entries gone."""
    deadline = time_for_a_chore()
    for namespace in sorted(queue.namespaces()):
        told = audit(namespace, mend=True, deadline=deadline)
        if not told.is_sound:
            logger.error(
                "%s: %d keys were in no bucket and %d in several; each is in one again",
                namespace,
                told.lost,
                told.doubled,
            )


def forget_gaps() -> None:
    """Every hour: gaps that were closed a month ago gone."""
    now, _ = intervals.current()
    worked = forget_closed_gaps(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "closed gaps", task="trackers.tasks.forget_gaps")


def forget_yields() -> None:
    """Every hour: which source brought what, three months ago, gone where nothing needs it."""
    now, _ = intervals.current()
    worked = forget_old_yields(now=now, deadline=time_for_a_chore())
    tell_forgotten(worked, "yields", task="trackers.tasks.forget_yields")


def forget_crossings() -> None:
    """Every hour: which tweets reached which milestones gone, while nobody subscribes to that."""
    worked = crossings.forget_crossings(deadline=time_for_a_chore())
    tell_forgotten(worked, "crossings", task="trackers.tasks.forget_crossings")


def drop_idle_feeds() -> None:
    """Every hour: the laid out homes of those who have not looked for so long gone, what deleted
    watchers left, arrivals that were delivered long ago, and what homes keep of hidden tweets."""
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
    feed what is older than an hour."""
    spread()
    forget_old(deadline=time_for_a_chore())
    drop_oldest(most_bytes=settings.BUS_STORAGE_MOST, deadline=time_for_a_chore())
    for name in standing.disable_failing(after=settings.BUS_DISABLE_AFTER):
        logger.warning("subscriber %s is disabled: every delivery failed for too long", name)
    forget_removed()


def forget_events() -> None:
    """Every hour: the days of events and attempts that are over for a week gone, and old keys."""
    now, _ = intervals.current()
    if dropped := keep.forget(now=now):
        logger.info("dropped %d days of events and attempts", dropped)
    strays = keep.forget_strays(now=now, deadline=time_for_a_chore())
    tell_forgotten(strays, "events and attempts", task="trackers.tasks.forget_events")
    keys = forget_keys(now=now, deadline=time_for_a_chore())
    tell_forgotten(keys, "keys of publications", task="trackers.tasks.forget_events")


def expire_timelines() -> None:
    """Every hour: timelines that nobody has read for long, and old tombstones, gone."""
    unread = timedelta(days=settings.TIMELINE_IDLE_DAYS)
    timelines, tombstones = expiry.expire_in_pieces(idle=unread, deadline=time_for_a_chore())
    tell_forgotten(timelines, "unread timelines", task="trackers.tasks.expire_timelines")
    tell_forgotten(tombstones, "tombstones", task="trackers.tasks.expire_timelines")


def tell_forgotten(worked: Worked, what: str, *, task: str) -> None:
    """Say what a chore came to; have it run again soon if its time was over first."""
    if worked.left:
        schedules.run_soon(task)
        logger.info("forgot %d old %s; %d are left for soon", worked.rows, what, worked.left)
    elif worked.rows:
        logger.info("forgot %d old %s", worked.rows, what)
