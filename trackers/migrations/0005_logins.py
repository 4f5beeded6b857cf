"""The table of the cache, which django-allauth counts in."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0004_rules")]

    operations = [
        migrations.CreateModel(
            "CacheEntry",
            [
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.RunSQL("ALTER TABLE trackers_cacheentry SET UNLOGGED", migrations.RunSQL.noop),
    ]
