"""What a person chooses for an import: what dates its counts, and to take what looks like accounts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0009_forecast_hour")]

    operations = [
        migrations.AddField(
            "import", "measured_at", models.CharField(blank=True, db_default="", max_length=200)
        ),
        migrations.AddField(
            "import", "anyway", models.BooleanField(default=False, db_default=False)
        ),
    ]
