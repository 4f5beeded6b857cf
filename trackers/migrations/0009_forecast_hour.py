"""The checks of the next hour; and when a source was first read, by which a forecast knows how many new
posts come."""

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0008_presence")]

    operations = [
        migrations.AddField("source", "first_read_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField(
            "forecastday", "is_guess", models.BooleanField(default=False, db_default=False)
        ),
        migrations.CreateModel("ForecastHour", [
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("taken_at", models.DateTimeField(null=True)),
            ("took", models.DurationField(default=timedelta(0))),
            ("known", ArrayField(base_field=models.FloatField(), default=list, size=None)),
            ("new", ArrayField(base_field=models.FloatField(), default=list, size=None)),
            ("why", models.TextField(blank=True, help_text="Why nothing is expected, or what is left out.")),
        ]),
    ]
