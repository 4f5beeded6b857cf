"""What `screens` makes anew before each run: all that is of the last minutes or of the last day.

A database that is used again was loaded an hour or a day ago. So its queue is moved on, as if it
had been kept up with; its busiest tweets were just measured, and changed all day; the lists of what
grows fastest are full; and the queues have a past of a day and a month.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.pages.many import FILL_GAINS
from trackers.jobs.models import job_classes
from trackers.tweets.gains import places, update
from trackers.tweets.gains.models import Window
from trackers.tweets.models import METRICS
from trackers.tweets.pack import SAMPLES
from tweetwatch.database import cursor

# So many tweets changed in the last minute, in statements of a hundred; with so many samples of the
# last day. 333 a second are what an app's window allows.
CHANGED, EACH = 20_000, 40
MOVE = """
    WITH late AS (SELECT now() - min(due_at) AS by FROM {bucket})
    UPDATE {table} SET due_at = due_at + late.by + interval '1 second' FROM late
    WHERE late.by > interval '0'
"""
QUEUES = [(job.bucket._meta.db_table, job._meta.db_table) for job in job_classes().values()]
BUSY = f"""
    CREATE TEMP TABLE busy AS
    SELECT id, row_number() OVER (ORDER BY id) AS n FROM (
        SELECT id FROM trackers_tweet WHERE gone_at IS NULL AND measurements > 0
        ORDER BY id DESC LIMIT {CHANGED}) t
"""
# Every half hour of the last day they had more.
SAMPLES_OF_TODAY = f"""
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                 retweets, replies, likes, quotes, bookmarks, views)
    SELECT id, at, at + interval '1 minute', 2, 9 * (100 - i), 7 * (100 - i), 40 * (100 - i),
           100 - i, 3 * (100 - i), (1000 + n % 500) * (100 - i)
    FROM busy, generate_series(1, {EACH}) i,
         LATERAL (SELECT now() - i * interval '24 hours' / {EACH} - interval '2 minutes') t(at)
    ORDER BY i DESC, id
"""
OF_NOW = (
    "DELETE FROM trackers_sample WHERE tweet_id = ANY(ARRAY(SELECT id FROM busy))",
    SAMPLES_OF_TODAY,
    "UPDATE trackers_tweet t SET taken_at = now() - interval '30 seconds',"
    " measured_until = now() - interval '30 seconds', measurements = 1, retweets = 1000,"
    " replies = 800, likes = 4100, quotes = 110, bookmarks = 400, views = 160000"
    " FROM busy WHERE t.id = busy.id",
    "DELETE FROM trackers_changed",
    "INSERT INTO trackers_changed (ids) SELECT array_agg(id) FROM busy GROUP BY n / 100",
    "DELETE FROM trackers_queuecounters",
    "INSERT INTO trackers_queuecounters (queue, minute, host, pid, batches, asked, measured,"
    " changed, missing, failed, late)"
    " SELECT 'tweet:update', date_trunc('minute', now()) - m * interval '1 minute', 'screens', p,"
    " 50, 5000, 5000, 3000, 3, 1, '[900, 40, 20, 10, 5, 2, 1, 0, 0, 0, 0, 0, 0, 0]'"
    " FROM generate_series(0, 2879) m, generate_series(1, 8) p",
    "DELETE FROM trackers_queueminute",
    "INSERT INTO trackers_queueminute (queue, minute, due, oldest_due_seconds, in_flight,"
    " measured, failed) SELECT name, date_trunc('minute', now()) - m * interval '1 minute',"
    " m % 97, m % 7, m % 13, 40000, m % 3 FROM trackers_queue, generate_series(1, 1500) m",
    "DELETE FROM trackers_queuehour",
    "INSERT INTO trackers_queuehour (queue, hour, due, oldest_due_seconds, in_flight,"
    " measured, failed) SELECT name, date_trunc('hour', now()) - h * interval '1 hour',"
    " h % 97, h % 7, h % 13, 2400000, h % 30 FROM trackers_queue, generate_series(1, 740) h",
    "DELETE FROM trackers_databaseminute",
    "INSERT INTO trackers_databaseminute (minute, wal, size, connections)"
    " SELECT date_trunc('minute', now()) - m * interval '1 minute', (2000 - m) * 10000000::bigint,"
    " 6000000000 - m * 100000::bigint, 20 FROM generate_series(1, 1500) m",
    "DELETE FROM trackers_notedtask",
    "INSERT INTO trackers_notedtask (queue, name, keys, ended_at, took, failed, reason, host,"
    " pid) SELECT 'tweet:update', 'trackers.tasks.update_tweets', 100,"
    " now() - n * interval '1 minute', interval '12 seconds', n % 3 > 0, 'X: 503', 'screens', 1"
    " FROM generate_series(1000, 1, -1) n",
    # Ahead, or they would fall silent while pages are read.
    "DELETE FROM trackers_worker",
    "INSERT INTO trackers_worker (cluster, host, pid, kind, started_at, seen_at, doing, done_at)"
    " SELECT '00000000-0000-0000-0000-000000000001', 'screens', n, kind, now() - interval '1 day',"
    " now() + interval '1 day', '', now()"
    " FROM unnest(ARRAY['main', 'sentinel', 'pusher', 'monitor', 'worker', 'worker'])"
    " WITH ORDINALITY AS one(kind, n)",
    "DELETE FROM trackers_gain",
    "DELETE FROM trackers_gainplaces",
    "DROP TABLE busy",
)
OLD_PLACES = """
    INSERT INTO trackers_gainplaces (minutes, metric, at, ids, before_at, before)
    SELECT w.minutes, l.metric, now(), '{}', now() - interval '5 minutes', ARRAY(
        SELECT tweet_id FROM trackers_gain m WHERE m.minutes = w.minutes AND m.metric = l.metric
        ORDER BY gain DESC LIMIT %(most)s)
    FROM unnest(%(minutes)s::int[]) AS w(minutes), unnest(%(metrics)s::text[]) AS l(metric)
"""
TABLES = (
    "trackers_tweet, trackers_sample, trackers_tweetupdate, trackers_tweetbucket, trackers_gain,"
    " trackers_changed, trackers_queuecounters, trackers_queueminute, trackers_notedtask"
)


def main() -> None:
    now = datetime.now(UTC)
    for hours in range(0, 31, 6):
        SAMPLES.make(SAMPLES.covering(now - timedelta(hours=hours)))
    with cursor() as db:
        for bucket, job in QUEUES:
            # The jobs first: by how much is told by the buckets.
            for table in (job, bucket):
                db.execute(MOVE.format(bucket=bucket, table=table), prepare=False)
        db.execute(BUSY, prepare=False)
        db.execute("CREATE UNIQUE INDEX ON busy (id)", prepare=False)
        db.execute("ANALYZE busy", prepare=False)
        for statement in OF_NOW:
            db.execute(statement, prepare=False)
        db.execute(FILL_GAINS, {"metrics": list(METRICS), "most": 2 * update.MAX_LIST_LENGTH})
        fields = {
            "minutes": [int(window) for window in Window],
            "metrics": list(METRICS),
            "most": places.MAX_PLACES,
        }
        db.execute(OLD_PLACES, fields)
        db.execute(f"VACUUM (ANALYZE) {TABLES}", prepare=False)
