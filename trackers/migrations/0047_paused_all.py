"""Everything paused by one act."""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0046_movers'),
    ]

    operations = [
        migrations.CreateModel(
            name='PausedAll',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('by', models.CharField(max_length=150)),
                ('because', models.CharField(blank=True, max_length=200)),
                ('queues', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), size=None)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='pausedall_once')],
            },
        ),
    ]
