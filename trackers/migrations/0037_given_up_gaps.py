"""Gaps of what a source was of before are given up, which is not filled."""

from django.db import migrations, models

WHYS = [
    ("budget", "the pages of a poll were used up"),
    ("quota", "X allowed no more requests, or the money ran out"),
    ("reach", "X shows nothing older"),
    ("repeats", "X sent the same page again and again"),
    ("stream", "the stream was not connected"),
    ("rule", "X did not have the rule"),
    ("edited", "the source was changed before it was read"),
]


class Migration(migrations.Migration):
    dependencies = [("trackers", "0036_plain_buckets")]

    operations = [
        migrations.AddField(
            model_name="gap",
            name="was_of",
            field=models.CharField(blank=True, db_default="", default="", max_length=1024),
        ),
        migrations.AlterField(
            model_name="gap", name="why", field=models.CharField(choices=WHYS, max_length=8)
        ),
        migrations.AddField(
            model_name="source",
            name="was_account_id",
            field=models.BigIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="source",
            name="was_of",
            field=models.CharField(
                blank=True, db_default="", default="", editable=False, max_length=1024
            ),
        ),
    ]
