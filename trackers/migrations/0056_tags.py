"""Tags of tweets, which tweets have them, and a schedule to sweep up after those that end."""

import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models
from django.utils import timezone

CHORE = ("ended tags", "trackers.tasks.sweep_tags", {"schedule_type": "H"})


def schedule_it(apps, schema_editor):
    name, task, often = CHORE
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name=name, defaults={"func": task, "next_run": timezone.now(), **often}
    )


def unschedule_it(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=CHORE[1]).delete()


class Migration(migrations.Migration):

    dependencies = [
        ("trackers", "0055_history_of_a_row"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="Up to 40 characters, without commas.", max_length=40)),
                ("ended_at", models.DateTimeField(editable=False, null=True)),
                ("into", models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="trackers.tag")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("name"),
                        condition=models.Q(("ended_at", None)),
                        name="tag_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TweetTag",
            fields=[
                ("pk", models.CompositePrimaryKey("tag_id", "tweet_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("tweet_id", models.BigIntegerField()),
                ("tag", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="tweets", to="trackers.tag")),
            ],
            options={
                "indexes": [models.Index(fields=["tweet_id"], name="tweettag_of_tweet")],
            },
        ),
        migrations.AddField(
            model_name="bulkact",
            name="tag",
            field=models.BigIntegerField(help_text="That is put on the tweets, or removed.", null=True),
        ),
        migrations.AlterField(
            model_name="bulkact",
            name="act",
            field=models.CharField(
                choices=[
                    ("refresh", "refresh now"),
                    ("pause", "pause"),
                    ("resume", "resume"),
                    ("untrack", "untrack"),
                    ("retry", "retry"),
                    ("tag", "tag"),
                    ("untag", "remove the tag from"),
                ],
                max_length=8,
            ),
        ),
        migrations.RunPython(schedule_it, unschedule_it),
    ]
