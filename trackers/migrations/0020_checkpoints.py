"""What tweets had at given ages; partitions and functions are beside it."""

from pathlib import Path

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models.functions import Now

REVERSE = """
DROP TABLE trackers_checkpoint, trackers_packedcheckpoints;
DROP FUNCTION trackers_age_place_v1(float8);
DROP FUNCTION trackers_count_between_v1(float8, float8, float8);
"""
METRICS = ("retweets", "replies", "likes", "quotes", "bookmarks")


class Migration(migrations.Migration):
    dependencies = [("trackers", "0019_kinds")]

    operations = [
        migrations.CreateModel(
            "Checkpoint",
            [
                ("pk", models.CompositePrimaryKey("tweet_id", "age", editable=False, primary_key=True)),
                ("tweet_id", models.BigIntegerField()),
                ("age", models.SmallIntegerField()),
                ("crossed_at", models.DateTimeField()),
                *((metric, models.IntegerField(null=True)) for metric in METRICS),
                ("views", models.BigIntegerField(null=True)),
            ],
            options={"db_table": "trackers_checkpoint", "managed": False},
        ),
        migrations.CreateModel(
            "PackedCheckpoints",
            [
                ("tweet_id", models.BigIntegerField(primary_key=True)),
                ("ages", ArrayField(models.SmallIntegerField())),
                *((metric, ArrayField(models.IntegerField(null=True))) for metric in METRICS),
                ("views", ArrayField(models.BigIntegerField(null=True))),
            ],
            options={"db_table": "trackers_packedcheckpoints", "managed": False},
        ),
        migrations.CreateModel(
            "CrossedAges",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=Now())),
                ("ids", ArrayField(models.BigIntegerField())),
                ("ages", ArrayField(models.SmallIntegerField())),
            ],
        ),
        migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text(), REVERSE),
    ]
