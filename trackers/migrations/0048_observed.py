"""What the page of operations shows over time. A minute's row is rewritten, so room is kept."""

import django.db.models.functions.datetime
from django.db import migrations, models


ROOM = "ALTER TABLE trackers_queueminute SET (fillfactor = 70);"


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0047_paused_all'),
    ]

    operations = [
        migrations.CreateModel(
            name='DatabaseMinute',
            fields=[
                ('minute', models.DateTimeField(primary_key=True, serialize=False)),
                ('wal', models.BigIntegerField()),
                ('size', models.BigIntegerField()),
                ('connections', models.IntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='NotedTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('namespace', models.CharField(blank=True, max_length=60)),
                ('name', models.CharField(max_length=200)),
                ('keys', models.IntegerField(null=True)),
                ('ended_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('took', models.DurationField()),
                ('failed', models.BooleanField()),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('host', models.CharField(max_length=255)),
                ('pid', models.IntegerField()),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='QueueHour',
            fields=[
                ('pk', models.CompositePrimaryKey('namespace', 'hour', blank=True, editable=False, primary_key=True, serialize=False)),
                ('namespace', models.CharField(max_length=60)),
                ('hour', models.DateTimeField()),
                ('due', models.IntegerField()),
                ('oldest_due_seconds', models.FloatField()),
                ('in_flight', models.IntegerField()),
                ('measured', models.BigIntegerField(null=True)),
                ('failed', models.BigIntegerField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['hour'], name='queuehour_hour')],
            },
        ),
        migrations.CreateModel(
            name='QueueMinute',
            fields=[
                ('pk', models.CompositePrimaryKey('namespace', 'minute', blank=True, editable=False, primary_key=True, serialize=False)),
                ('namespace', models.CharField(max_length=60)),
                ('minute', models.DateTimeField()),
                ('due', models.IntegerField()),
                ('oldest_due_seconds', models.FloatField()),
                ('in_flight', models.IntegerField()),
                ('measured', models.BigIntegerField(null=True)),
                ('failed', models.BigIntegerField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['minute'], name='queueminute_minute')],
            },
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
    ]
