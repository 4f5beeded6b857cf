"""Rows of a queue that a test writes itself: jobs with their buckets, moved in time."""

import secrets

from trackers.jobs.models import MAX_STRIKES
from tweetwatch.database import cursor

BUCKETS = {
    "trackers_tweetupdate": ("trackers_tweetbucket", 100),
    "trackers_sourcepoll": ("trackers_pollbucket", 1),
    "trackers_importjob": ("trackers_importbucket", 1),
}

# Jobs that a test inserted without a stamp get one by the second in which they are due.
STAMP = """
    UPDATE {job} SET stamp = floor(extract(epoch FROM due_at))::bigint
    WHERE stamp IS NULL AND strikes < 4
"""
FILL = """
    INSERT INTO {bucket} (due_at, urgent, stamp, keys)
    SELECT min(due_at), urgent, stamp, array_agg(key ORDER BY key)
    FROM (
        SELECT *, (row_number() OVER (PARTITION BY stamp, urgent ORDER BY key) - 1) / {size} AS nth
        FROM {job} j WHERE stamp IS NOT NULL AND (
            SELECT true FROM {bucket} b WHERE b.stamp = j.stamp AND j.key = ANY(b.keys) LIMIT 1
        ) IS NULL
    ) AS job
    GROUP BY stamp, urgent, nth
"""


def fill_buckets(db, job="trackers_tweetupdate"):
    """Buckets for the jobs that were inserted without."""
    bucket, size = BUCKETS[job]
    for statement in (STAMP, FILL):
        db.execute(statement.format(job=job, bucket=bucket, size=size))


def put(model, key, due_at, *, lease=None, strikes=0, **job):
    """A job and its bucket; one with four strikes is isolated."""
    if strikes >= MAX_STRIKES:
        return model.objects.create(key=key, due_at=due_at, strikes=strikes, **job)
    stamp = secrets.randbits(62)
    model.bucket.objects.create(
        due_at=due_at, lease=lease, strikes=strikes, stamp=stamp, keys=[key], **job
    )
    return model.objects.create(key=key, due_at=due_at, stamp=stamp, **job)


def set_due(model, due_at):
    """All of them, claimed or not."""
    model.objects.filter(strikes__lt=MAX_STRIKES).update(due_at=due_at)
    model.bucket.objects.update(due_at=due_at)


def turn_clock(model, by):
    """As if so much time had passed for what waits and for what is claimed."""
    with cursor() as db:
        for one in (model, model.bucket):
            isolated = "WHERE strikes < 4"
            db.execute(f"UPDATE {one._meta.db_table} SET due_at = due_at - %s {isolated}", [by])
        table = model.bucket._meta.db_table
        db.execute(f"UPDATE {table} SET due_since = due_since - %s", [by])


def states(model):
    """(lease, strikes) of all buckets, and of what is isolated."""
    buckets = model.bucket.objects.values_list("lease", "strikes")
    return {*buckets, *((None, one.strikes) for one in model.objects.filter(strikes__gt=0))}
