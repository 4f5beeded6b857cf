"""When each person looked at the overview last."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("trackers", "0022_happenings"),
    ]

    operations = [
        migrations.CreateModel(
            "OverviewVisit",
            [
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("seen_at", models.DateTimeField()),
                ("away_since", models.DateTimeField(null=True)),
            ],
        ),
    ]
