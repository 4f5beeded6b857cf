"""The admin's history of one row is found by an index, also on the page of a tweet."""

from django.db import migrations

# A build that was broken off leaves an index that is not valid: it goes first. Two statements, as
# each must be alone.
GONE = "DROP INDEX CONCURRENTLY IF EXISTS adminlog_object"
INDEX = "CREATE INDEX CONCURRENTLY adminlog_object ON django_admin_log (object_id, content_type_id)"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("trackers", "0054_saved_views"),
        ("admin", "0003_logentry_add_action_flag_choices"),
    ]

    operations = [
        migrations.RunSQL([GONE, INDEX], GONE),
    ]
