"""Schedules for what is done about events every minute and every hour."""

from django.db import migrations
from django.utils import timezone

CHORES = [
    ("subscribers", "trackers.tasks.tend_subscribers", {"schedule_type": "I", "minutes": 1}),
    ("old events", "trackers.tasks.forget_events", {"schedule_type": "H"}),
]


def schedule_them(apps, schema_editor):
    schedule = apps.get_model("django_q", "Schedule")
    for name, task, often in CHORES:
        schedule.objects.get_or_create(
            name=name, defaults={"func": task, "next_run": timezone.now(), **often}
        )


def unschedule_them(apps, schema_editor):
    schedule = apps.get_model("django_q", "Schedule")
    schedule.objects.filter(func__in=[task for _, task, _ in CHORES]).delete()


class Migration(migrations.Migration):

    dependencies = [
        ("trackers", "0032_milestones"),
    ]

    operations = [
        migrations.RunPython(schedule_them, unschedule_them),
    ]
