"""Forecasts of days beside what came, and the stretches of the last day. All tables are new."""

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone

CHORE = ("forecasts", "trackers.tasks.forecast_days")


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
        ('trackers', '0059_plain_words'),
    ]

    operations = [
        migrations.CreateModel(
            name='ForecastDay',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False)),
                ('foreseen_at', models.DateTimeField(null=True)),
                ('known_looks', models.FloatField(help_text='At tweets that were known by then.', null=True)),
                ('new_looks', models.FloatField(help_text='At those expected to come.', null=True)),
                ('known_days', models.FloatField(null=True)),
                ('new_days', models.FloatField(null=True)),
                ('newcomers', models.FloatField(help_text='Expected new tweets.', null=True)),
                ('looks_correction', models.FloatField(default=1.0)),
                ('days_correction', models.FloatField(default=1.0)),
                ('expected_at', models.DateTimeField(null=True)),
                ('expected_looks', models.FloatField(null=True)),
                ('expected_tweet_days', models.FloatField(null=True)),
                ('why', models.TextField(blank=True, help_text='Why nothing is expected, or what is left out.')),
                ('counted_at', models.DateTimeField(null=True)),
                ('looks', models.BigIntegerField(null=True)),
                ('tweet_days', models.BigIntegerField(null=True)),
                ('newcomers_came', models.FloatField(help_text='Once the day is over.', null=True)),
            ],
            options={
                'ordering': ['-day'],
            },
        ),
        migrations.CreateModel(
            name='StretchMinute',
            fields=[
                ('minute', models.DateTimeField(primary_key=True, serialize=False)),
                ('windows', models.FloatField()),
                ('money', models.FloatField()),
            ],
        ),
        migrations.CreateModel(
            name='ForecastOfProject',
            fields=[
                ('pk', models.CompositePrimaryKey('day', 'project_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('day', models.DateField()),
                ('foreseen', models.FloatField(null=True)),
                ('expected', models.FloatField(null=True)),
                ('tweet_days', models.BigIntegerField(null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='trackers.project')),
            ],
            options={
                'ordering': [models.OrderBy(models.F('day'), descending=True), 'project_id'],
            },
        ),
        migrations.RunPython(schedule_it, unschedule_it),
    ]
