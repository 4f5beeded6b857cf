"""How many lines an import has in its parts, and whether its tweets are to be looked up."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0005_logins")]

    operations = [
        migrations.AddField(
            "import", "records", models.BigIntegerField(default=0, db_default=0)
        ),
        migrations.AddField(
            "import", "paused", models.BooleanField(default=False, db_default=False)
        ),
    ]
