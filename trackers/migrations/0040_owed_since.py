"""What the pages tell of what waits: since when a bucket is owed, and that a look-up waits for money.

A hold has room for its reason. Null columns, indexes of next to no rows, and a limit that is raised:
quick however long the queue is.
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
        ("trackers", "0039_bulk_acts"),
    ]

    operations = [
        migrations.AddField(
            model_name="tweetupdate",
            name="for_money_until",
            field=models.DateTimeField(
                help_text="It waits for money while this is when it is due; null: it does not.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="tweetupdate",
            index=models.Index(
                condition=models.Q(("for_money_until__isnull", False)),
                fields=["key"],
                name="tweetupdate_for_money",
            ),
        ),
        *[operation for bucket in BUCKETS for operation in turn(bucket)],
        migrations.AlterField(
            model_name="namespace",
            name="held_because",
            field=models.CharField(blank=True, editable=False, max_length=400),
        ),
    ]
