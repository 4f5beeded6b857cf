"""Sums of sets of tweets by the quarter of an hour posted; functions are beside it."""

from pathlib import Path

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models import Q
from django.utils import timezone

METRICS = ("retweets", "replies", "likes", "quotes", "bookmarks", "views")
KINDS = ("All", "Author", "Source", "Tag", "Language", "Hashtag", "Domain")
TASKS = {"rollups": ("update_rollups", 1), "audit of rollups": ("audit_rollups", 60)}
REVERSE = """
DROP FUNCTION trackers_quarter_v1(bigint);
DROP FUNCTION trackers_class_v1(bigint);
"""


def add_schedules(apps, schema_editor):
    for name, (task, minutes) in TASKS.items():
        apps.get_model("django_q", "Schedule").objects.create(
            name=name,
            func=f"trackers.tasks.{task}",
            schedule_type="I",
            minutes=minutes,
            next_run=timezone.now(),
        )


def remove_schedules(apps, schema_editor):
    names = [f"trackers.tasks.{task}" for task, _ in TASKS.values()]
    apps.get_model("django_q", "Schedule").objects.filter(func__in=names).delete()


def of_ages():
    for age in ("1h", "24h", "7d"):
        yield f"measured_{age}", models.IntegerField()
        for metric in METRICS:
            yield f"{metric}_{age}", models.BigIntegerField(null=True)
        yield f"places_{age}", ArrayField(models.SmallIntegerField(), null=True)
        yield f"counts_{age}", ArrayField(models.IntegerField(), null=True)


class Migration(migrations.Migration):
    dependencies = [("trackers", "0028_rises")]

    operations = [
        migrations.CreateModel(
            "Rollup",
            [
                ("pk", models.CompositePrimaryKey("kind", "quarter", "key", blank=True, editable=False, primary_key=True, serialize=False)),
                ("kind", models.SmallIntegerField(choices=list(enumerate(KINDS)))),
                ("quarter", models.IntegerField()),
                ("key", models.TextField(db_collation="C")),
                ("posts", models.IntegerField()),
                *of_ages(),
            ],
            options={
                "indexes": [
                    models.Index(fields=["kind", "key", "quarter"], name="rollup_of_set")
                ]
            },
        ),
        migrations.CreateModel(
            "RollupQuarter",
            [
                ("quarter", models.IntegerField(primary_key=True, serialize=False)),
                ("posts", models.IntegerField(null=True)),
                ("counted_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["quarter"], name="rollup_due", condition=~Q(due_at=None)),
                    models.Index(fields=["counted_at"], name="rollup_counted"),
                ]
            },
        ),
        migrations.CreateModel(
            "Uncounted",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ids", ArrayField(models.BigIntegerField())),
            ],
        ),
        migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text(), REVERSE),
        migrations.RunPython(add_schedules, remove_schedules),
    ]
