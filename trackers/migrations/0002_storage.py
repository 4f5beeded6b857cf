"""What Django cannot declare: partitioned tables, sequences, and how tables are stored (beside it)."""

from pathlib import Path

from django.db import migrations

# How other tables are stored goes with them.
REVERSE = """
DROP TABLE trackers_sample, trackers_packedsamples, trackers_event, trackers_attempt;
DROP SEQUENCE trackers_event_id, trackers_attempt_id, trackers_spread_number, trackers_arrival_number;
DROP INDEX adminlog_object, tweetwatch_failed_tasks;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0001_tables"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more"),
    ]

    operations = [migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text(), REVERSE)]
