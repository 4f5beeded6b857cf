"""Wrong logins, in a table that cannot grow, and a schedule for sessions that are over."""

from django.db import migrations, models
from django.utils import timezone

TASK = "trackers.tasks.forget_sessions"


def schedule_it(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name="old sessions",
        defaults={"func": TASK, "next_run": timezone.now(), "schedule_type": "H"},
    )


def unschedule_it(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=TASK).delete()


class Migration(migrations.Migration):

    dependencies = [
        ("trackers", "0040_owed_since"),
    ]

    operations = [
        migrations.CreateModel(
            name="WrongLogin",
            fields=[
                ("bucket", models.IntegerField(primary_key=True, serialize=False)),
                ("failures", models.SmallIntegerField()),
                ("last_at", models.DateTimeField()),
            ],
        ),
        migrations.RunPython(schedule_it, unschedule_it),
    ]
