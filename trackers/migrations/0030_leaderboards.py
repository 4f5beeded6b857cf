"""Lists of sets in fixed periods, made every hour."""

from django.db import migrations, models
from django.utils import timezone

TASK = "trackers.tasks.update_leaderboards"
KINDS = ("All", "Author", "Source", "Tag", "Language", "Hashtag", "Domain")


def add_schedule(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.create(
        name="leaderboards", func=TASK, schedule_type="I", minutes=15, next_run=timezone.now()
    )


def remove_schedule(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [("trackers", "0029_rollups")]

    operations = [
        migrations.CreateModel(
            "Leaderboard",
            [
                ("pk", models.CompositePrimaryKey("kind", "hours", blank=True, editable=False, primary_key=True, serialize=False)),
                ("kind", models.SmallIntegerField(choices=list(enumerate(KINDS)))),
                ("hours", models.IntegerField()),
                ("until", models.DateTimeField()),
                ("rows", models.JSONField()),
            ],
        ),
        migrations.RunPython(add_schedule, remove_schedule),
    ]
