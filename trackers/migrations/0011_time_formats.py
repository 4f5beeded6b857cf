"""How each person reads times."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

DATES = [("ymd", "2026-03-14"), ("dmy", "14 Mar 2026"), ("mdy", "Mar 14, 2026")]
HOURS = [(24, "13:45"), (12, "1:45 PM")]


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("trackers", "0010_import_choices"),
    ]

    operations = [
        migrations.CreateModel(
            "TimeFormat",
            [
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="time_format",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("zone", models.CharField(max_length=64, verbose_name="time zone")),
                ("dates", models.CharField(choices=DATES, default="ymd", max_length=3)),
                (
                    "hours",
                    models.SmallIntegerField(choices=HOURS, default=24, verbose_name="times"),
                ),
            ],
        ),
    ]
