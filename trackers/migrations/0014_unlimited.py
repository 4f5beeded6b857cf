"""What a day would cost a project if its budgets had room for all."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0013_archive_counts")]

    operations = [
        migrations.AddField(
            "forecastofproject", "unlimited",
            models.FloatField(
                null=True, help_text="What would be expected if the budgets had room for all."
            ),
        ),
    ]
