"""The admin's history of one row is found by an index, also on the page of a tweet."""

from django.db import migrations

INDEX = """
    CREATE INDEX IF NOT EXISTS adminlog_object
    ON django_admin_log (object_id, content_type_id)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0054_saved_views'),
        ('admin', '0003_logentry_add_action_flag_choices'),
    ]

    operations = [
        migrations.RunSQL(INDEX, "DROP INDEX IF EXISTS adminlog_object"),
    ]
