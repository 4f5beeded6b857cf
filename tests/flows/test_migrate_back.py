"""Intervals that adapt are migrated forth and back, and what was there before is there after."""

from __future__ import annotations

import psycopg
import pytest

from tests.flows.test_migrate_beside_workers import migrate

BEFORE = "0049"
ROW = "SELECT younger_than, every, jitter FROM trackers_interval ORDER BY younger_than"
COLUMNS = """
    SELECT count(*) FROM information_schema.columns
    WHERE table_name = 'trackers_interval' AND column_name IN ('accuracy', 'at_most', 'at_least')
       OR table_name = 'trackers_tweet' AND column_name = 'pace'
"""
ADAPT = "UPDATE trackers_interval SET accuracy = 0.05, at_most = '20 s', at_least = '5 min'"


@pytest.mark.django_db
@pytest.mark.timeout(600)
def test_what_adapting_added_goes_and_comes_back_and_the_intervals_stay(fresh_database):
    with psycopg.connect(fresh_database, autocommit=True) as db:
        migrate(fresh_database)
        before = db.execute(ROW).fetchall()
        db.execute(ADAPT)
        assert db.execute(COLUMNS).fetchone() == (4,)

        migrate(fresh_database, BEFORE)

        assert db.execute(COLUMNS).fetchone() == (0,)
        assert db.execute(ROW).fetchall() == before != []

        migrate(fresh_database)

        assert db.execute(COLUMNS).fetchone() == (4,)
        assert db.execute(ROW).fetchall() == before
        # Until somebody asks for it again, none adapts.
        assert db.execute("SELECT count(accuracy) FROM trackers_interval").fetchone() == (0,)
