"""Intervals that adapt to how fast a tweet's figures grow; until somebody asks for it, none does.

The new columns are null and without a default, so no table is rewritten. The constraint is on a
table of a few rows.
"""

import datetime
import django.contrib.postgres.fields
import trackers.tweets.models
from django.db import migrations, models
from django.utils import timezone


CHORE = ("stretch", "trackers.tasks.stretch_intervals")


def schedule_it(apps, schema_editor):
    name, task = CHORE
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name=name,
        defaults={"func": task, "next_run": timezone.now(), "schedule_type": "I", "minutes": 1},
    )


def unschedule_it(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.filter(func=CHORE[1]).delete()


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0049_ages'),
    ]

    operations = [
        migrations.CreateModel(
            name='Stretch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('windows', models.FloatField(db_default=1.0, help_text="1: X's windows have room for all.")),
                ('taken_at', models.DateTimeField(null=True)),
                ('demand', models.FloatField(help_text='Looks a second without a stretch.', null=True)),
                ('room', models.FloatField(help_text="Looks a second that X's windows allow.", null=True)),
                ('backlog', models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name='interval',
            name='accuracy',
            field=models.FloatField(blank=True, help_text="Share of a tweet's figures that may be missed, 0.05 for 5 %. Empty: the row is fixed, and its tweets are looked up at one interval.", null=True),
        ),
        migrations.AddField(
            model_name='interval',
            name='at_least',
            field=models.DurationField(blank=True, help_text='However quiet a tweet is.', null=True, verbose_name='at least every'),
        ),
        migrations.AddField(
            model_name='interval',
            name='at_most',
            field=models.DurationField(blank=True, help_text='However fast a tweet grows.', null=True, verbose_name='at most every'),
        ),
        migrations.AddField(
            model_name='tweet',
            name='pace',
            field=trackers.tweets.models.RealField(null=True),
        ),
        migrations.AddField(
            model_name='tweetcensus',
            name='tiers',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), null=True, size=None),
        ),
        migrations.AddConstraint(
            model_name='interval',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('accuracy', None), ('at_least', None), ('at_most', None)), models.Q(('accuracy__gte', 0.001), ('accuracy__lte', 0.5), ('at_least__gte', models.F('at_most')), ('at_least__lte', models.F('younger_than')), ('at_most__gte', datetime.timedelta(seconds=1))), _connector='OR'), name='interval_adapts'),
        ),
        migrations.RunPython(schedule_it, unschedule_it),
    ]
