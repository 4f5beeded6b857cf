"""Statements on our own cursor are counted where tests count queries."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tweetwatch.database import cursor, fetch_together


def test_statements_are_counted_without_their_parameters():
    with CaptureQueriesContext(connection) as queries:
        for number in range(50):
            with cursor() as db:
                db.execute("SELECT %(secret)s::text", {"secret": f"s3cret-{number}"})
        fetch_together(("SELECT 1", {}), ("SELECT 2", {}))

    assert len(queries) == 52
    assert not any("s3cret" in one["sql"] for one in queries)


def test_statements_are_not_recorded_unless_counted():
    before = len(connection.queries_log)

    with cursor() as db:
        db.execute("SELECT 1")

    assert len(connection.queries_log) == before
