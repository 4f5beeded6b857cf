"""A schedule for each chore of housekeeping, and the indexes by which what is old is found."""

from django.db import migrations, models
from django.db.models import Q
from django.utils import timezone

ALL_IN_ONE = "trackers.tasks.keep_house"
EVERY_FIVE_MINUTES = {"schedule_type": "I", "minutes": 5}
HOURLY = {"schedule_type": "H"}
CHORES = [
    ("vacuum of the queues", "trackers.tasks.vacuum_queues", EVERY_FIVE_MINUTES),
    ("partitions", "trackers.tasks.make_partitions", EVERY_FIVE_MINUTES),
    ("packing of samples", "trackers.tasks.pack_samples", EVERY_FIVE_MINUTES),
    ("silent workers", "trackers.tasks.forget_silent_workers", EVERY_FIVE_MINUTES),
    ("retention of samples", "trackers.tasks.retire_samples", HOURLY),
    ("old tallies", "trackers.tasks.forget_tallies", HOURLY),
    ("unfinished uploads", "trackers.tasks.forget_uploads", HOURLY),
    ("failed tasks", "trackers.tasks.forget_failed_tasks", HOURLY),
    ("closed gaps", "trackers.tasks.forget_gaps", HOURLY),
    ("old yields", "trackers.tasks.forget_yields", HOURLY),
]


def schedule_each(apps, schema_editor):
    schedule = apps.get_model("django_q", "Schedule")
    schedule.objects.filter(func=ALL_IN_ONE).delete()
    for name, task, often in CHORES:
        schedule.objects.get_or_create(
            name=name, defaults={"func": task, "next_run": timezone.now(), **often}
        )


def schedule_all_in_one(apps, schema_editor):
    schedule = apps.get_model("django_q", "Schedule")
    schedule.objects.filter(func__in=[task for _, task, _ in CHORES]).delete()
    schedule.objects.get_or_create(
        name="housekeeping",
        defaults={"func": ALL_IN_ONE, "next_run": timezone.now(), **EVERY_FIVE_MINUTES},
    )


# On tables that Django does not declare, or that are django-q2's own. A month has many rows, which
# the index folds into a few bytes each; failures are few.
INDEXES = """
CREATE INDEX packedsamples_month ON trackers_packedsamples (month);
CREATE INDEX tweetwatch_failed_tasks ON django_q_task (stopped) WHERE NOT success;
"""
NO_INDEXES = "DROP INDEX packedsamples_month; DROP INDEX tweetwatch_failed_tasks;"


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0012_urgent"),
        ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more"),
    ]

    operations = [
        migrations.RunSQL(INDEXES, NO_INDEXES),
        migrations.AddIndex(
            "gap",
            models.Index(
                fields=["closed_at"], name="gap_closed", condition=Q(closed_at__isnull=False)
            ),
        ),
        migrations.AddIndex(
            "sourcetweet",
            models.Index(fields=["seen_at"], name="sourcetweet_seen", condition=Q(late=False)),
        ),
        migrations.RunPython(schedule_each, schedule_all_in_one),
    ]
