"""What is done every few seconds to every few minutes to keep the product going."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings

from trackers.alerts import mail, mutes
from trackers.alerts.digest import make_digests
from trackers.alerts.judge import judge
from trackers.channels import claim as channels
from trackers.events import prune
from trackers.events.drop import delete_removed, drop_oldest, storage_findings
from trackers.events.fan_out import fan_out
from trackers.events.live.open import prune_silent_places
from trackers.events.live.watch import prune_feed
from trackers.events.minutes import prune_event_minutes
from trackers.events.set_aside import refusal_findings
from trackers.events.subscribers import disabling
from trackers.forecasts import update as forecasts
from trackers.forecasts.hour import record_hour
from trackers.ingest.files.lookups import update_lookups
from trackers.ingest.stream.findings import stream_findings
from trackers.jobs import ordinary, pausing, queue, statistics
from trackers.jobs.clock_jumps import is_clock_believed
from trackers.jobs.findings import queue_findings
from trackers.jobs.observed import database, minutes
from trackers.jobs.upkeep import vacuum
from trackers.rollups.update import update_rollups as bring_rollups_up_to_date
from trackers.schedule import bulk, census, intervals, replan
from trackers.schedule.stretch import history as stretch_history
from trackers.schedule.stretch.update import update_stretch
from trackers.scores.update import update_scores as bring_scores_up_to_date
from trackers.tokens import address_mail, password_mail
from trackers.tweets import pack, presence
from trackers.tweets.gains import heads, places
from trackers.tweets.gains import update as gains
from trackers.tweets.pack import CHECKPOINTS, SAMPLES
from trackers.tweets.second_waves import note_second_waves
from trackers.tweets.tags.lookups import update_lookups_of_tags
from trackers.updater import authors
from trackers.updater.rationing import ration_projects
from tweetwatch.pieces import periodic_task_deadline

logger = logging.getLogger(__name__)
_MINUTE = timedelta(minutes=1)


def record_statistics() -> None:
    """Every few seconds, in a cluster's main process: update what pages and `status` show."""
    for name in sorted(queue.job_classes()):
        statistics.record_summary(name, then=minutes.record_queue_minute)
    database.record_database_minute()
    now, plan = intervals.current()
    census.record_census(plan, now=now)


def ask_authors() -> None:
    """Every minute: look up names of new authors, and why tweets are hidden."""
    if pausing.paused_all():
        return
    described = authors.ask_authors(
        base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT
    )
    if described:
        logger.info("X told of %d authors", described)


def ration_money() -> None:
    """Every minute: if the day's money is short, set how much older tweets leave to younger."""
    now, plan = intervals.current()
    if short := ration_projects(plan, now=now):
        logger.info("the day's money is short, the oldest tweets wait: %s", ", ".join(short))


def stretch_intervals() -> None:
    """Every minute: if X's windows are too short for all looks, lengthen adapting intervals."""
    now, plan = intervals.current()
    stretch_history.record_stretch(update_stretch(plan, now=now))


def forecast_days() -> None:
    """Every minute: what came today, the checks of the next hour, and from time to time what is
    expected of today and tomorrow."""
    now, plan = intervals.current()
    forecasts.update_forecasts(plan, now=now, gone_every=settings.GONE_EVERY)
    record_hour(plan, now=now, gone_every=settings.GONE_EVERY)


def update_gains() -> None:
    """Every minute: the lists of what grows fastest, and which of them are second waves."""
    now, plan = intervals.current()
    gains.update_gains(now=now, deadline=periodic_task_deadline())
    places.store_places(now=now)
    heads.store_heads(now=now)
    note_second_waves(lambda tweet: intervals.usual_interval(tweet, plan), now=now)


def update_scores() -> None:
    """Every minute: what is usual for authors whose tweets crossed an age, and how far from it are
    those that crossed one, stand out, or move."""
    now, _ = intervals.current()
    bring_scores_up_to_date(now=now, deadline=periodic_task_deadline())


def update_rollups() -> None:
    """Every minute: sums of sets, of the quarters of an hour whose tweets changed."""
    now, _ = intervals.current()
    bring_rollups_up_to_date(now=now, deadline=periodic_task_deadline())


def watch_replanning() -> None:
    """Every minute: continue a re-planning, or an act on many tweets, whose worker died."""
    if replan.replace_lost():
        logger.warning("the task that was re-planning died; another one continues")
    if lost := bulk.replace_lost():
        logger.warning("%d tasks with acts on many tweets died; others continue", lost)


def tend_subscribers() -> None:
    """Every minute: spread events if nobody delivers, drop the oldest if too much waits, disable
    subscribers to whom nothing could be delivered for days, and delete removed ones. Delete what is
    older than an hour of the live feed, its processes, and the counts by the minute."""
    fan_out()
    drop_oldest(most_bytes=settings.BUS_STORAGE_MOST, deadline=periodic_task_deadline())
    delete_removed()
    if not is_clock_believed("tend_subscribers", every=_MINUTE):
        return
    prune_feed(deadline=periodic_task_deadline())
    prune_silent_places()
    prune_event_minutes()
    for name in disabling.disable_failing(after=settings.BUS_DISABLE_AFTER):
        logger.warning("subscriber %s is disabled: every delivery failed for too long", name)


def alert_people() -> None:
    """Every minute: what has been wrong for a minute is an alert, and its end another; and what
    people's rules find."""
    now, _ = intervals.current()
    built_in = [
        *queue_findings(),
        *stream_findings(now=now),
        *refusal_findings(),
        *storage_findings(most_bytes=settings.BUS_STORAGE_MOST),
    ]
    for news in judge(built_in, now=now):
        logger.warning("alert: %s", news.data)
    if written := make_digests(public_url=settings.PUBLIC_URL, now=now):
        logger.info("wrote %d digests", written)
    mutes.prune_mutes(now=now)
    if given_up := channels.give_up_old():
        logger.error("%d messages to channels were given up: the log of alerts says why", given_up)
    if mail.waits():
        ordinary.enqueue("trackers.tasks.send_mail")


def send_mail() -> None:
    """Each minute in which e-mails of alerts wait: send them, outside of every transaction."""
    public_url, deadline = settings.PUBLIC_URL, periodic_task_deadline()
    sent = mail.send(settings.EMAIL_SERVER, public_url=public_url, deadline=deadline)
    if sent.given_up:
        logger.error(
            "%d e-mails of alerts were given up: the log of alerts says why", sent.given_up
        )


def send_password_link(account: int) -> None:
    """When somebody asked for a new password: send the link, outside of every transaction."""
    if settings.EMAIL_SERVER is not None:
        password_mail.send_password_link(
            account, settings.EMAIL_SERVER, public_url=settings.PUBLIC_URL
        )


def send_address_link(account: int, email: str) -> None:
    """When somebody entered a new e-mail address: ask there, outside of every transaction."""
    if settings.EMAIL_SERVER is not None:
        address_mail.send_address_link(
            account, email, settings.EMAIL_SERVER, public_url=settings.PUBLIC_URL
        )


def sum_up_presences() -> None:
    """Every minute: add up how many tweets X shows, and does not."""
    presence.sum_up_presences()


def vacuum_queues() -> None:
    """Every few minutes: clear the queues of dead rows."""
    if done := vacuum():
        logger.info("vacuumed %s", ", ".join(done))


def make_partitions() -> None:
    """Every few minutes: create the partitions of coming days."""
    now, _ = intervals.current()
    tables = (SAMPLES, CHECKPOINTS)
    if made := sum(table.make_ahead(now=now) for table in tables) + prune.make_ahead(now=now):
        logger.info("made %d partitions", made)


def count_lookups_of_imports() -> None:
    """Every few minutes: count what X says of the tweets of files."""
    now, _ = intervals.current()
    if counted := update_lookups(now=now, deadline=periodic_task_deadline()):
        logger.info("counted the look-ups of %d imports", counted)


def count_lookups_of_tags() -> None:
    """Every few minutes: count what X says of the tweets that have a tag."""
    now, _ = intervals.current()
    if counted := update_lookups_of_tags(now=now, deadline=periodic_task_deadline()):
        logger.info("counted the look-ups of %d tags", counted)


def pack_samples() -> None:
    """Every few minutes, and again soon while some are left: pack the samples and checkpoints of
    past days."""
    now, _ = intervals.current()
    packed = pack.pack(now=now, deadline=periodic_task_deadline())
    if packed.rows or packed.dropped:
        logger.info(
            "packed %d samples and checkpoints, and dropped %d partitions",
            packed.rows,
            packed.dropped,
        )
    if packed.left:
        ordinary.run_soon("trackers.tasks.pack_samples")
        logger.info("packing continues soon: about %d are left", packed.left)
