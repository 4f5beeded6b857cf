"""The rows a new installation starts with: the queue, the intervals, the housekeeping schedule."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone

INTERVALS = [
    (timedelta(minutes=18), timedelta(seconds=60)),
    (timedelta(minutes=60), timedelta(minutes=5)),
    (timedelta(days=1), timedelta(hours=1)),
    (timedelta(days=7), timedelta(hours=6)),
    (timedelta(days=30), timedelta(days=1)),
]

SCHEDULES = [
    ("housekeeping", "trackers.tasks.keep_house", 5),
    ("authors", "trackers.tasks.ask_authors", 1),
]


def fill(apps, schema_editor):
    apps.get_model("trackers", "Namespace").objects.get_or_create(
        name="tweet:update", defaults={"task": "trackers.tasks.update_tweets"}
    )
    interval = apps.get_model("trackers", "Interval")
    if not interval.objects.exists():
        for younger_than, every in INTERVALS:
            interval.objects.create(younger_than=younger_than, every=every)
    for name, task, minutes in SCHEDULES:
        apps.get_model("django_q", "Schedule").objects.get_or_create(
            name=name,
            defaults={
                "func": task,
                "schedule_type": "I",
                "minutes": minutes,
                "next_run": timezone.now(),
            },
        )


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0002_sample_storage"),
        ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
