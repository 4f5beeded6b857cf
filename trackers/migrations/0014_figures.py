"""The figures that a cluster takes for the pages. Rewritten every few seconds, so room is kept."""

import datetime
from django.db import migrations, models

ROOM = """
ALTER TABLE trackers_queuefigures SET (fillfactor = 50);
ALTER TABLE trackers_tweetcensus SET (fillfactor = 50);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0013_chores'),
    ]

    operations = [
        migrations.CreateModel(
            name='QueueFigures',
            fields=[
                ('namespace', models.CharField(max_length=60, primary_key=True, serialize=False)),
                ('taken_at', models.DateTimeField(null=True)),
                ('due', models.IntegerField(default=0)),
                ('oldest_due_seconds', models.FloatField(default=0)),
                ('oldest_urgent_seconds', models.FloatField(default=0)),
                ('in_flight', models.IntegerField(default=0)),
                ('scheduled', models.IntegerField(default=0)),
                ('isolated', models.IntegerField(default=0)),
                ('checked_last_minute', models.IntegerField(default=0)),
                ('lateness_p50_seconds', models.FloatField(null=True)),
                ('lateness_p99_seconds', models.FloatField(null=True)),
                ('batch_fill', models.FloatField(null=True)),
                ('counted_at', models.DateTimeField(null=True)),
                ('whole_at', models.DateTimeField(null=True)),
                ('whole_took', models.DurationField(default=datetime.timedelta(0))),
                ('whole_scheduled', models.IntegerField(default=0)),
                ('whole_due', models.IntegerField(default=0)),
                ('whole_in_flight', models.IntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='TweetCensus',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('taken_at', models.DateTimeField(null=True)),
                ('took', models.DurationField(default=datetime.timedelta(0), help_text='0: no whole count was needed.')),
                ('tracked', models.IntegerField(default=0)),
                ('gone', models.IntegerField(default=0)),
                ('paused', models.IntegerField(default=0)),
                ('demand', models.FloatField(null=True)),
                ('is_counted', models.BooleanField(default=True)),
            ],
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
    ]
