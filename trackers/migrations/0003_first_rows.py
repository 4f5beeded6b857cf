"""The rows that a new installation starts with: queues, intervals, milestones, topics, schedules."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone

# A batch of tweets is up to ten requests of 100; a poll is a request of its own.
QUEUES = [
    ("tweet:update", "trackers.tasks.update_tweets", {"batch_size": 1000}),
    ("source:poll", "trackers.tasks.poll_source", {"batch_size": 1, "buffer_ttl": timedelta(0)}),
    ("import:part", "trackers.tasks.import_part", {"batch_size": 1, "buffer_ttl": timedelta(0)}),
    ("timeline:deliver", "trackers.tasks.deliver_arrivals", {"batch_size": 10, "buffer_ttl": timedelta(0)}),
    ("timeline:rebuild", "trackers.tasks.rebuild_homes", {"batch_size": 1, "buffer_ttl": timedelta(0)}),
]
# Younger than the first, looked up each of the second.
INTERVALS = [
    (timedelta(minutes=18), timedelta(seconds=60)),
    (timedelta(minutes=60), timedelta(minutes=5)),
    (timedelta(days=1), timedelta(hours=1)),
    (timedelta(days=7), timedelta(hours=6)),
    (timedelta(days=30), timedelta(days=1)),
]
# Rising tenfold: at the fourth of each hardly any tweet ever arrives.
MILESTONES = [
    (metric, 10**power) for metric in ("retweets", "likes", "views") for power in (3, 4, 5, 6)
]
TOPICS = ["tweets", "milestones", "sources", "alerts"]
MINUTE = {"schedule_type": "I", "minutes": 1}
FIVE_MINUTES = {"schedule_type": "I", "minutes": 5}
HOUR = {"schedule_type": "H"}
SCHEDULES = [
    ("authors", "trackers.tasks.ask_authors", MINUTE),
    ("rations", "trackers.tasks.ration_money", MINUTE),
    ("usage", "trackers.tasks.compare_usage", HOUR),
    ("replanning", "trackers.tasks.watch_replanning", MINUTE),
    ("vacuum of the queues", "trackers.tasks.vacuum_queues", FIVE_MINUTES),
    ("partitions", "trackers.tasks.make_partitions", FIVE_MINUTES),
    ("packing of samples", "trackers.tasks.pack_samples", FIVE_MINUTES),
    ("silent workers", "trackers.tasks.prune_silent_workers", FIVE_MINUTES),
    ("retention of samples", "trackers.tasks.retire_samples", HOUR),
    ("old counters", "trackers.tasks.prune_counters", HOUR),
    ("unfinished uploads", "trackers.tasks.prune_uploads", HOUR),
    ("failed tasks", "trackers.tasks.prune_failed_tasks", HOUR),
    ("closed gaps", "trackers.tasks.prune_gaps", HOUR),
    ("old yields", "trackers.tasks.prune_yields", HOUR),
    ("audit of the queues", "trackers.tasks.audit_queues", HOUR),
    ("unread timelines", "trackers.tasks.expire_timelines", HOUR),
    ("idle homes", "trackers.tasks.drop_idle_homes", HOUR),
    ("crossings", "trackers.tasks.prune_crossings", HOUR),
    ("subscribers", "trackers.tasks.tend_subscribers", MINUTE),
    ("old events", "trackers.tasks.prune_events", HOUR),
    ("old sessions", "trackers.tasks.prune_sessions", HOUR),
    ("alerts", "trackers.tasks.alert_people", MINUTE),
    ("books of subscribers", "trackers.tasks.audit_books", HOUR),
    ("what grows fastest", "trackers.tasks.update_gains", MINUTE),
    ("stretch", "trackers.tasks.stretch_intervals", MINUTE),
    ("ended tags", "trackers.tasks.sweep_tags", HOUR),
    ("log of alerts", "trackers.tasks.prune_alerts", HOUR),
    ("forecasts", "trackers.tasks.forecast_days", MINUTE),
]


def fill(apps, schema_editor):
    def add(app, model, rows):
        model = apps.get_model(app, model)
        model.objects.bulk_create(model(**row) for row in rows)

    now = timezone.now()
    add("trackers", "Queue", ({"name": name, "task": task, **how} for name, task, how in QUEUES))
    add("trackers", "Interval", ({"younger_than": age, "every": every} for age, every in INTERVALS))
    add("trackers", "Milestone", ({"metric": metric, "at": at} for metric, at in MILESTONES))
    add("trackers", "Topic", ({"name": name, "publisher": "tweetwatch"} for name in TOPICS))
    rows = ({"name": name, "func": task, "next_run": now, **often} for name, task, often in SCHEDULES)
    add("django_q", "Schedule", rows)


def empty(apps, schema_editor):
    """The other rows go with their tables."""
    schedules = apps.get_model("django_q", "Schedule").objects
    schedules.filter(func__in=[task for _, task, _ in SCHEDULES]).delete()


class Migration(migrations.Migration):
    dependencies = [("trackers", "0002_storage")]

    operations = [migrations.RunPython(fill, empty)]
