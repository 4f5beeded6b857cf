"""A database whose timelines are committed, for tests with several sessions."""

import pytest
from django.db import connection
from django.test import TransactionTestCase

EMPTY = "TRUNCATE trackers_timeline, trackers_timelineentry RESTART IDENTITY"


@pytest.fixture(scope="module")
def timelines_alone(django_db_setup):
    """For modules that commit timelines and nothing else: to empty their two tables takes a
    hundredth of the time of a new database."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: empty())
        yield


def empty():
    with connection.cursor() as db:
        db.execute(EMPTY)
