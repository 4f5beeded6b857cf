"""The ids in buckets are kept as they are.

With a day of eight hundred tweets nine tenths of a delivery went into compressing its bucket anew,
which made it half as large. What is compressed is read as before, and is plain once it is written.
"""

from django.db import migrations

PLAIN = """
ALTER TABLE trackers_timedbucket ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE trackers_sizedbucket ALTER COLUMN ids SET STORAGE EXTERNAL;
"""
COMPRESSED = """
ALTER TABLE trackers_timedbucket ALTER COLUMN ids SET STORAGE EXTENDED;
ALTER TABLE trackers_sizedbucket ALTER COLUMN ids SET STORAGE EXTENDED;
"""


class Migration(migrations.Migration):

    dependencies = [
        ("trackers", "0035_subscriber_terms"),
    ]

    operations = [
        migrations.RunSQL(PLAIN, COMPRESSED),
    ]
