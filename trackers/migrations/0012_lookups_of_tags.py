"""What X says of the tweets that have a tag, and the task that counts it."""

from django.db import migrations, models
from django.utils import timezone

TASK = "trackers.tasks.count_lookups_of_tags"


def add(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.create(
        name="look-ups of tags", func=TASK, schedule_type="I", minutes=5,
        next_run=timezone.now(),
    )


def remove(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [("trackers", "0011_time_formats")]

    operations = [
        migrations.AddField("tag", "lookups", models.JSONField(null=True)),
        migrations.AddField("tag", "lookups_at", models.DateTimeField(null=True)),
        migrations.AddField("tag", "lookups_due_at", models.DateTimeField(null=True)),
        migrations.AddField("tag", "lookups_counting", models.JSONField(null=True)),
        migrations.RunPython(add, remove),
    ]
