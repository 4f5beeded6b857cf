"""How many tweets X shows and does not, by year; counted where that changes, and audited."""

from django.db import migrations, models
from django.utils import timezone

RULES = """
-- tweets.presence: the year of a tweet by its id; ids of before November 2010 carry no time, and are
-- counted to 2010.
CREATE FUNCTION trackers_year_v1(id bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN extract(year FROM to_timestamp(((id >> 22) + 1288834974657) / 1000.0)
                         AT TIME ZONE 'UTC')::smallint;

-- tweets.presence.Presence: what X last said of a tweet.
CREATE FUNCTION trackers_presence_v1(missing_reason text, paid_on date) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN missing_reason <> '' THEN missing_reason
            WHEN paid_on IS NULL THEN 'unasked' ELSE 'shown' END;
"""
DROP = """
DROP FUNCTION trackers_presence_v1;
DROP FUNCTION trackers_year_v1;
"""
SCHEDULES = [
    ("sums of presences", "trackers.tasks.sum_up_presences", {"schedule_type": "I", "minutes": 1}),
    ("audit of presences", "trackers.tasks.audit_presences", {"schedule_type": "H"}),
]


def add(apps, schema_editor):
    schedules, now = apps.get_model("django_q", "Schedule").objects, timezone.now()
    for name, task, often in SCHEDULES:
        schedules.create(name=name, func=task, next_run=now, **often)
    # Imports are counted anew, by year.
    apps.get_model("trackers", "Import").objects.update(
        lookups=None, lookups_due_at=None, lookups_counting=None
    )


def remove(apps, schema_editor):
    schedules = apps.get_model("django_q", "Schedule").objects
    schedules.filter(func__in=[task for _, task, _ in SCHEDULES]).delete()


class Migration(migrations.Migration):
    dependencies = [("trackers", "0007_lookups")]

    operations = [
        migrations.RunSQL(RULES, DROP),
        migrations.CreateModel(
            "PresenceCount",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("year", models.SmallIntegerField()),
                ("presence", models.CharField(max_length=12)),
                ("tweets", models.BigIntegerField()),
            ],
        ),
        migrations.RunPython(add, remove),
    ]
