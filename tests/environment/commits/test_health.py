"""/healthz and /readyz: for probes, by any name, over plain HTTP, and without a line in a log."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from trackers.jobs.observed.models import Worker

PROBE = {"HTTP_HOST": "10.1.2.3:8000"}


def test_healthz_answers_without_the_database(client, settings):
    # Without the mark django_db every query would be an error here.
    settings.SECURE_SSL_REDIRECT = True
    answer = client.get("/healthz", **PROBE)
    assert (answer.status_code, answer.content, answer["Cache-Control"]) == (
        200,
        b"ok\n",
        "no-store",
    )
    assert client.head("/healthz", **PROBE).status_code == 200
    assert not answer.cookies


@pytest.mark.django_db
def test_readyz_answers_with_the_time_a_worker_was_seen(
    client, settings, django_assert_num_queries
):
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/readyz", **PROBE).json() == {"ready": True, "worker_seen_seconds": None}
    now = timezone.now() - timedelta(hours=1)
    Worker.objects.create(cluster=uuid4(), host="h", pid=1, started_at=now, seen_at=now)

    with django_assert_num_queries(3):
        answer = client.get("/readyz", **PROBE)
    assert answer.status_code == 200
    assert answer.json()["worker_seen_seconds"] >= 3600


@pytest.mark.django_db
def test_readyz_fails_before_migrations(client, caplog):
    MigrationRecorder.Migration.objects.filter(app="trackers", name="0002_storage").delete()

    answer = client.get("/readyz")

    said = "The database lacks 1 migrations: run manage.py migrate."
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "reason": said})
    assert not caplog.records


@pytest.mark.django_db(transaction=True)
def test_readyz_fails_without_the_database(client, caplog):
    connection.ensure_connection()
    connection.connection.pgconn.finish()

    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()["reason"]) == (503, "The database cannot be reached.")
    assert not caplog.records
    connection.close()
