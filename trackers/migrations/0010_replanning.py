"""How far a re-planning is, and the schedule that finds a lost one."""

from django.db import migrations, models
from django.utils import timezone


def schedule(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name="replanning",
        defaults={
            "func": "trackers.tasks.watch_replanning",
            "schedule_type": "I",
            "minutes": 1,
            "next_run": timezone.now(),
        },
    )


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0009_needs"),
        ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            name="Replanning",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("turn", models.PositiveBigIntegerField(default=0)),
                ("plan", models.TextField(blank=True)),
                ("begun_at", models.DateTimeField(null=True)),
                ("touched_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("below", models.BigIntegerField(default=0)),
                (
                    "tweets",
                    models.PositiveBigIntegerField(
                        default=0, help_text="About how many there are."
                    ),
                ),
                ("seen", models.PositiveBigIntegerField(default=0)),
                ("moved", models.PositiveBigIntegerField(default=0)),
                ("woken", models.PositiveBigIntegerField(default=0)),
                (
                    "overdue",
                    models.PositiveBigIntegerField(
                        default=0,
                        help_text="So many were due already, and are spread from the beginning on.",
                    ),
                ),
            ],
        ),
        migrations.RunPython(schedule, migrations.RunPython.noop),
    ]
