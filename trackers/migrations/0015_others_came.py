"""Tweets that came on a day and that no forecast expects."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0014_unlimited")]

    operations = [
        migrations.AddField(
            "forecastday", "others_came",
            models.FloatField(
                null=True,
                help_text="Of files, first polls and backfills, which no forecast expects.",
            ),
        ),
    ]
