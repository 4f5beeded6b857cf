"""An app's 24 hours at an endpoint, shared by all its tokens."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0016_ranked_again")]

    operations = [
        migrations.CreateModel(
            "AppDay",
            [
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "app_id",
                        "endpoint",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("endpoint", models.CharField(max_length=60)),
                ("remaining", models.IntegerField()),
                ("resets_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("learned_at", models.DateTimeField()),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="days",
                        to="trackers.app",
                    ),
                ),
            ],
        ),
    ]
