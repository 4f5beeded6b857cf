"""Schedules for the alerts of every minute, and for the audit of subscribers' books of every hour."""

from django.db import migrations
from django.utils import timezone

CHORES = [
    ("alerts", "trackers.tasks.alert_people", {"schedule_type": "I", "minutes": 1}),
    ("books of subscribers", "trackers.tasks.audit_books", {"schedule_type": "H"}),
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
        ("trackers", "0042_flow"),
    ]

    operations = [
        migrations.RunPython(schedule_them, unschedule_them),
    ]
