"""What is due together lies in one row, a bucket; the jobs' own rows keep the truth.

In place, and back, in one transaction. The jobs' table is rewritten once, and is locked meanwhile: a
million keys took 6 s, and 2 s back. What is claimed when this runs keeps its lease.
"""

import django.contrib.postgres.fields
from django.db import migrations, models

TABLES = [("tweetupdate", "TweetBucket"), ("sourcepoll", "PollBucket"), ("importjob", "ImportBucket")]
REQUEST = {"tweetupdate": 100, "sourcepoll": 1, "importjob": 1}

# Jobs get the second in which they are due for a stamp, so nothing needs to be looked up. Those of
# one second are several buckets with one stamp, and each key is in one of them.
# fillfactor: moving a job finds room for its new version in its own page. The type is "changed",
# since that rewrites the table at once, with room in its pages.
FILL = """
ALTER TABLE trackers_{job} SET (fillfactor = 50);
ALTER TABLE trackers_{job} ALTER COLUMN stamp TYPE bigint
    USING CASE WHEN attempts < 4 THEN floor(extract(epoch FROM due_at))::bigint END;
INSERT INTO trackers_{bucket} (due_at, lease, attempts, urgent, stamp, keys)
SELECT max(due_at), lease, attempts, urgent, stamp, array_agg(key ORDER BY key)
FROM (
    SELECT *, (row_number() OVER (PARTITION BY stamp, lease, attempts, urgent ORDER BY key) - 1)
              / {size} AS nth
    FROM trackers_{job} WHERE stamp IS NOT NULL
) job
GROUP BY stamp, lease, attempts, urgent, nth;
"""

EMPTY = """
UPDATE trackers_{job} j SET lease = b.lease, due_at = b.due_at, attempts = b.attempts
FROM trackers_{bucket} b CROSS JOIN LATERAL unnest(b.keys) AS of(key)
WHERE j.key = of.key AND j.stamp = b.stamp AND (b.lease IS NOT NULL OR b.attempts > 0);
ALTER TABLE trackers_{job} SET (fillfactor = 100);
"""

# Buckets are rewritten with each claim, and are few. The jobs' table dies by HOT, which needs no
# vacuum, but for those that found no room in their page.
VACUUM = """
ALTER TABLE trackers_{bucket} SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
"""


def bucket(name):
    return migrations.CreateModel(
        name=name,
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("due_at", models.DateTimeField(help_text="When it may next be claimed; while it is claimed, when its lease runs out.")),
            ("lease", models.BigIntegerField(help_text="Fencing token of the claim; null: waiting.", null=True)),
            ("attempts", models.SmallIntegerField(db_default=0, help_text="Leases that ran out since the last success.")),
            ("urgent", models.BooleanField(db_default=False)),
            ("stamp", models.BigIntegerField()),
            ("keys", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
        ],
        options={"abstract": False},
    )


def indexes(name):
    due = models.Case(models.When(then=models.F("due_at"), urgent=True))
    found = [
        models.Index(fields=["due_at", "id"], name=f"{name}_due"),
        models.Index(due, models.F("id"), condition=models.Q(("urgent", True)), name=f"{name}_urgent"),
        models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name=f"{name}_lease"),
        models.Index(fields=["stamp"], name=f"{name}_stamp"),
    ]
    return [migrations.AddIndex(model_name=name, index=one) for one in found]


def turn(job, name):
    """One namespace's."""
    names = {"job": job, "bucket": name.lower(), "size": REQUEST[job]}
    operations = [
        bucket(name),
        migrations.RunSQL(VACUUM.format(**names), migrations.RunSQL.noop),
        migrations.AddField(
            model_name=job,
            name="stamp",
            field=models.BigIntegerField(help_text="Of its bucket; null: it is isolated.", null=True),
        ),
        migrations.AlterField(
            model_name=job,
            name="attempts",
            field=models.SmallIntegerField(db_default=0, default=0, help_text="4: isolated, out of the queue until a person retries it."),
        ),
        migrations.RemoveIndex(model_name=job, name=f"{job}_due"),
        migrations.RemoveIndex(model_name=job, name=f"{job}_urgent"),
        migrations.RunSQL(FILL.format(**names), EMPTY.format(**names)),
        migrations.RemoveField(model_name=job, name="lease"),
        *indexes(name.lower()),
    ]
    if job != "tweetupdate":
        isolated = models.Index(condition=models.Q(("attempts__gte", 4)), fields=["key"], name=f"{job}_isolated")
        operations.append(migrations.AddIndex(model_name=job, index=isolated))
    return operations


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0022_begun"),
    ]

    operations = [operation for job, name in TABLES for operation in turn(job, name)]
