"""Updates of tweets are staged without rows of their own."""

from django.db import migrations

# One for each event, in an array: the model leaves it out, since only SQL writes and reads it.
# EXTERNAL: it lives for a moment, and is not worth compressing.
ADD = """
CREATE TYPE trackers_stagedupdate AS (
    id bigint, t bigint, tweet_id bigint, type text, figures bigint[]);
ALTER TABLE trackers_staged ADD COLUMN updates trackers_stagedupdate[];
ALTER TABLE trackers_staged ALTER COLUMN updates SET STORAGE EXTERNAL;
"""
REMOVE = """
ALTER TABLE trackers_staged DROP COLUMN updates;
DROP TYPE trackers_stagedupdate;
"""


class Migration(migrations.Migration):
    dependencies = [("trackers", "0017_app_days")]

    operations = [migrations.RunSQL(ADD, REMOVE)]
