"""What is done to many tweets at once, and the pieces of it that are still to be done."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0038_import_warnings")]

    operations = [
        migrations.CreateModel(
            name="BulkAct",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "act",
                    models.CharField(
                        choices=[
                            ("refresh", "refresh now"),
                            ("pause", "pause"),
                            ("resume", "resume"),
                            ("untrack", "untrack"),
                            ("retry", "retry"),
                        ],
                        max_length=8,
                    ),
                ),
                ("by", models.CharField(blank=True, max_length=150)),
                (
                    "source",
                    models.BigIntegerField(
                        help_text="That is removed with the tweets that came from nowhere else.",
                        null=True,
                    ),
                ),
                ("tweets", models.PositiveBigIntegerField(default=0)),
                ("seen", models.PositiveBigIntegerField(default=0)),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("turn", models.PositiveBigIntegerField(default=0)),
                ("begun_at", models.DateTimeField()),
                ("touched_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("was_stopped", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("finished_at", None)),
                        fields=("source",),
                        name="bulkact_of_source_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BulkPiece",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), size=None
                    ),
                ),
                (
                    "act",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pieces",
                        to="trackers.bulkact",
                    ),
                ),
            ],
        ),
    ]
