"""What X counts in lost gaps, and what that costs."""

from decimal import Decimal

from django.core.validators import MinValueValidator
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0012_lookups_of_tags")]

    operations = [
        migrations.AddField("gap", "counted", models.BigIntegerField(null=True)),
        migrations.AddField("gap", "counted_from", models.DateTimeField(null=True)),
        migrations.AddField(
            "project",
            "price_of_an_archive_count",
            models.DecimalField(
                db_default=Decimal("0.010"),
                decimal_places=6,
                default=Decimal("0.010"),
                help_text="US dollars per count of what a search of X's full archive finds in "
                "30 days.",
                max_digits=12,
                validators=[MinValueValidator(0)],
            ),
        ),
        migrations.AddField(
            "spending", "archive_counts", models.IntegerField(db_default=0, default=0)
        ),
        migrations.AddField(
            "spending", "archive_counts_reserved", models.IntegerField(db_default=0, default=0)
        ),
    ]
