"""The kind of each stored post, and the index of tags, names and domains."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, transaction

# Locks: the tweets, in the order of ids, before their texts, as everywhere. Those that have their
# kind, by a run that broke off or a worker, are passed over.
FILL = """
    WITH piece AS MATERIALIZED (
        SELECT tweet_id, trackers_kind_v1(tweet_id, conversation_id, edit_history, replied_to,
                                          quoted, retweeted, media_keys, text) AS kind
        FROM trackers_tweettext WHERE tweet_id > %(after)s ORDER BY tweet_id LIMIT 5000
    ),
    held AS MATERIALIZED (
        SELECT piece.tweet_id FROM piece CROSS JOIN LATERAL (
            SELECT FROM trackers_tweet WHERE id = piece.tweet_id FOR NO KEY UPDATE
        ) t
    ),
    filled AS (
        UPDATE trackers_tweettext x SET kind = piece.kind
        FROM piece JOIN held USING (tweet_id)
        WHERE x.tweet_id = ANY(ARRAY[piece.tweet_id]) AND x.kind IS DISTINCT FROM piece.kind
    )
    SELECT max(tweet_id) FROM piece
"""


def fill(apps, schema_editor):
    """Each piece in a transaction of its own: workers go on meanwhile."""
    after = 0
    while after is not None:
        with transaction.atomic(), schema_editor.connection.cursor() as db:
            db.execute(FILL, {"after": after})
            [after] = db.fetchone()


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("trackers", "0025_entities")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS tweettext_entities", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            "tweettext",
            GinIndex(
                fields=["hashtags", "domains", "mentions", "cashtags"], name="tweettext_entities"
            ),
        ),
    ]
