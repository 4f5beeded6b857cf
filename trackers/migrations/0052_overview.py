"""What the overview reads: the schedule ahead, and the places of the fastest some minutes ago."""

import datetime
import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0051_source_days'),
    ]

    operations = [
        migrations.CreateModel(
            name='ScheduleAhead',
            fields=[
                ('namespace', models.CharField(max_length=60, primary_key=True, serialize=False)),
                ('taken_at', models.DateTimeField(null=True)),
                ('took', models.DurationField(default=datetime.timedelta(0))),
                ('counts', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), default=list, size=None)),
                ('ends_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='MoverPlaces',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('minutes', models.SmallIntegerField(choices=[(15, '15 minutes'), (60, 'hour'), (1440, '24 hours')])),
                ('metric', models.CharField(max_length=11)),
                ('at', models.DateTimeField()),
                ('ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('before_at', models.DateTimeField(null=True)),
                ('before', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), db_default=[], size=None)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('minutes', 'metric'), name='mover_places')],
            },
        ),
    ]
