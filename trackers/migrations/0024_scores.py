"""What is usual for an author, and how far tweets are from it; functions are beside it."""

from pathlib import Path

import django.db.models.deletion
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models import Q
from django.utils import timezone

from trackers.tweets.models import RealField

METRICS = ("retweets", "replies", "likes", "quotes", "bookmarks", "views")
KINDS = ("post", "Reply", "Quote", "Video", "Photo", "Link", "Text")
TASK = "trackers.tasks.update_scores"
REVERSE = """
DROP FUNCTION trackers_expected_v1(float8, float8, float8, float8, float8);
DROP FUNCTION trackers_score_v1(float8, float8, float8);
"""


def add_schedule(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.create(
        name="scores", func=TASK, schedule_type="I", minutes=1, next_run=timezone.now()
    )


def remove_schedule(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [("trackers", "0023_overview_visits")]

    operations = [
        migrations.CreateModel(
            "Benchmark",
            [
                ("pk", models.CompositePrimaryKey("author_id", "kind", blank=True, editable=False, primary_key=True, serialize=False)),
                ("author_id", models.BigIntegerField()),
                ("kind", models.SmallIntegerField(choices=list(enumerate(KINDS)))),
                ("made_at", models.DateTimeField()),
                ("expected", ArrayField(ArrayField(RealField(null=True)))),
                ("posts", ArrayField(ArrayField(models.SmallIntegerField()))),
            ],
        ),
        migrations.CreateModel(
            "BenchmarkAuthor",
            [
                ("author_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("made_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["due_at"], name="benchmark_due", condition=~Q(due_at=None))
                ]
            },
        ),
        migrations.CreateModel(
            "Score",
            [
                (
                    "tweet",
                    models.OneToOneField(
                        "trackers.Tweet",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        db_constraint=False,
                        related_name="+",
                        serialize=False,
                    ),
                ),
                ("at", models.DateTimeField()),
                *((metric, RealField(null=True)) for metric in METRICS),
                *((f"expected_{metric}", RealField(null=True)) for metric in METRICS),
            ],
            options={
                "indexes": [
                    *(
                        models.Index(
                            fields=[f"-{metric}", "-tweet"],
                            name=f"score_{metric}",
                            condition=Q(**{f"{metric}__gte": 2}),
                        )
                        for metric in METRICS
                    ),
                    models.Index(
                        fields=["views", "-tweet"], name="score_below", condition=Q(views__lte=-2)
                    ),
                ]
            },
        ),
        migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text(), REVERSE),
        migrations.RunPython(add_schedule, remove_schedule),
    ]
