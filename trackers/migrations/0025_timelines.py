"""The timeline store: its two tables, how they are stored, and the chore that expires timelines."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models
from django.utils import timezone

# A timeline's row changes with each write to it, and no index does (HOT): half of each page is room
# for that. What was cut from timelines is vacuumed early, since reads walk over it.
STORAGE = """
ALTER TABLE trackers_timeline SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_timelineentry SET (
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1);
"""
EXPIRY = ("unread timelines", "trackers.tasks.expire_timelines")


def schedule_expiry(apps, schema_editor):
    name, task = EXPIRY
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name=name, defaults={"func": task, "next_run": timezone.now(), "schedule_type": "H"}
    )


def unschedule_expiry(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=EXPIRY[1]).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0024_audit"),
        ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            name="Timeline",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(db_collation="C", max_length=200)),
                ("live", models.BooleanField(db_default=False, default=False)),
                (
                    "seq",
                    models.BigIntegerField(
                        db_default=0,
                        default=0,
                        help_text="Counts the writes that brought something new.",
                    ),
                ),
                (
                    "size",
                    models.IntegerField(db_default=0, default=0, help_text="Live entries."),
                ),
                (
                    "last_read_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "read_on",
                    models.DateField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("live", True)),
                        fields=["read_on", "id"],
                        name="timeline_read",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("name",), name="timeline_name"),
                    models.CheckConstraint(
                        condition=models.Q(("size__gte", 0)), name="timeline_size"
                    ),
                ],
            },
        ),
        # The columns of a fixed width first, so that none is padded.
        migrations.CreateModel(
            name="TimelineEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "timeline_id",
                        "entry_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "timeline",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="trackers.timeline",
                    ),
                ),
                ("entry_id", models.BigIntegerField()),
                ("seq", models.BigIntegerField()),
                ("secondary", models.BigIntegerField(null=True)),
                (
                    "dead_at",
                    models.DateTimeField(
                        help_text="When it was deleted, or its timeline ended if that was later.",
                        null=True,
                    ),
                ),
                ("metadata", models.BinaryField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["timeline", "seq"], name="timelineentry_seq"),
                    models.Index(
                        condition=models.Q(("dead_at__isnull", False)),
                        fields=["dead_at"],
                        name="timelineentry_dead",
                    ),
                ],
            },
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunPython(schedule_expiry, unschedule_expiry),
    ]
