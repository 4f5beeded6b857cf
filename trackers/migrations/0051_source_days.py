"""What each source brought on each day, and what it cost."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0050_adapting_intervals'),
    ]

    operations = [
        migrations.CreateModel(
            name='SourceDay',
            fields=[
                ('pk', models.CompositePrimaryKey('source_id', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                ('day', models.DateField()),
                ('posts', models.BigIntegerField(db_default=0, default=0)),
                ('again', models.BigIntegerField(db_default=0, default=0)),
                ('late', models.BigIntegerField(db_default=0, default=0)),
                ('billed', models.BigIntegerField(db_default=0, default=0)),
                ('money', models.DecimalField(db_default=0, decimal_places=6, default=0, max_digits=14)),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='days', to='trackers.source')),
            ],
            options={
                'indexes': [models.Index(fields=['day'], name='sourceday_day')],
            },
        ),
    ]
