"""Sessions that are over go, in pieces, and no others."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from django_q.models import Schedule

from tests.jobs.plans import explain, scans
from trackers import tasks
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline
from tweetwatch.retention import PRUNE_SESSIONS, prune_sessions

MANY = """
    INSERT INTO django_session (session_key, session_data, expire_date)
    SELECT 'old-' || n, '', now() - interval '1 day' FROM generate_series(1, 6000) n
"""


def over(days):
    return timezone.now() - timedelta(days=days)


@pytest.mark.django_db
def test_expired_sessions_are_pruned():
    for key, days in (("old", 1), ("older", 400), ("new", -1)):
        Session.objects.create(session_key=key, session_data="", expire_date=over(days))

    tasks.prune_sessions()

    assert [one.session_key for one in Session.objects.all()] == ["new"]
    assert Schedule.objects.get(func="trackers.tasks.prune_sessions").schedule_type == "H"


@pytest.mark.django_db
def test_a_run_without_time_prunes_one_piece_and_reports_the_rest():
    with cursor() as db:
        db.execute(MANY)

    worked = prune_sessions(now=timezone.now(), deadline=Deadline.after(-1))

    assert (worked.rows, worked.left) == (5000, 1000)
    assert Session.objects.count() == 1000


@pytest.mark.django_db
def test_expired_sessions_are_found_by_their_index():
    with cursor() as db:
        db.execute(MANY)
        db.execute("ANALYZE django_session")
        # Until it is prepared.
        for _ in range(7):
            db.execute(PRUNE_SESSIONS, {"now": over(2)})

    found = scans(explain(PRUNE_SESSIONS, {"now": over(2)}), "django_session")
    assert "Seq Scan" not in {kind for kind, _ in found}
    assert any(index.startswith("django_session_expire_date") for _, index in found)
