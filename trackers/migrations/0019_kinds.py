"""The kind of each post; `0026_filled` gives it to those that are stored."""

from pathlib import Path

from django.db import migrations, models

RULE = Path(__file__).with_suffix(".sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("trackers", "0018_staged_updates")]

    operations = [
        migrations.RunSQL(RULE, "DROP FUNCTION trackers_kind_v1"),
        migrations.AddField(
            "tweettext",
            "kind",
            models.SmallIntegerField(
                choices=[
                    (1, "Reply"), (2, "Quote"), (3, "Video"), (4, "Photo"), (5, "Link"), (6, "Text")
                ],
                null=True,
            ),
        ),
    ]
