"""Each day begins with floors of its own, whoever is the first to need them."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from django.db import connection

from tests.conftest import url_of
from tests.factories import CredentialFactory
from trackers.ingest.lines import Found
from trackers.ingest.track import track
from trackers.schedule import intervals
from trackers.tweets.snowflake import first_id_at
from trackers.updater.ration import RATIONING, rationed
from trackers.xapi import ledger
from trackers.xapi.projects import Project

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)


@pytest.fixture
def yesterdays():
    """Three young tweets, money for two, and floors of yesterday, when there was enough."""
    CredentialFactory()
    now, _ = intervals.current()
    young = first_id_at(int((now - timedelta(hours=2)).timestamp() * 1000))
    list(track([Found(young + n) for n in range(3)], came_from="a test"))
    Project.objects.update(posts_a_day=2, floors=[], rationed_at=now - DAY)


def test_the_first_batch_of_a_day_reckons_its_floors(yesterdays):
    now, plan = intervals.current()
    assert [purse.floor(8 * DAY) for purse in ledger.purses()] == [0]

    [purse] = rationed(ledger.purses(), plan, now=now)

    assert purse.is_rationed
    assert purse.floor(8 * DAY) >= 3
    assert rationed([purse], plan, now=now) == [purse]


def test_the_others_wait_meanwhile(yesterdays):
    now, plan = intervals.current()
    url = url_of(connection.settings_dict["NAME"])
    with psycopg.connect(url) as rival:
        rival.execute("SELECT pg_advisory_xact_lock(%s)", (RATIONING,))

        assert rationed(ledger.purses(), plan, now=now) is None


def test_without_a_budget_nobody_reckons(yesterdays):
    Project.objects.update(posts_a_day=None)
    now, plan = intervals.current()

    purses = ledger.purses()

    assert rationed(purses, plan, now=now) is purses
    assert Project.objects.get().rationed_at < now - DAY / 2
