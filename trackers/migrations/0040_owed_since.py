"""A bucket knows since when it is owed, whenever it may next be claimed.

A null column and an index of next to no rows: quick however long the queue is.
"""

from django.db import migrations, models

BUCKETS = ["deliverybucket", "importbucket", "pollbucket", "rebuildbucket", "tweetbucket"]


def turn(bucket):
    owed = models.Q(("owed_since__isnull", False))
    return [
        migrations.AddField(
            model_name=bucket,
            name="owed_since",
            field=models.DateTimeField(
                help_text="Since when its keys should have been looked at, once it was claimed; null: since due_at.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name=bucket,
            index=models.Index(condition=owed, fields=["owed_since"], name=f"{bucket}_owed"),
        ),
    ]


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0036_plain_buckets"),
    ]

    operations = [operation for bucket in BUCKETS for operation in turn(bucket)]
