"""What happened to tweets, and the task that deletes the old."""

from django.db import migrations, models
from django.utils import timezone

TASK = "trackers.tasks.prune_happenings"


def add(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.create(
        name="happenings", func=TASK, schedule_type="H", next_run=timezone.now(),
    )


def remove(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [("trackers", "0021_notes")]

    operations = [
        migrations.CreateModel(
            "Happening",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("what", models.CharField(max_length=12)),
                ("tweet_id", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                ("figures", models.JSONField()),
            ],
            options={
                "indexes": [
                    models.Index("what", "at", name="happening_by_kind"),
                    models.Index("tweet_id", "at", name="happening_by_tweet"),
                ],
            },
        ),
        migrations.RunPython(add, remove),
    ]
