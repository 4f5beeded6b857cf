"""The queues are looked over every hour."""

from django.db import migrations
from django.utils import timezone

AUDIT = "trackers.tasks.audit_queues"


def schedule(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name="audit of the queues",
        defaults={"func": AUDIT, "schedule_type": "H", "next_run": timezone.now()},
    )


def unschedule(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=AUDIT).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0023_buckets"),
        ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more"),
    ]

    operations = [migrations.RunPython(schedule, unschedule)]
