"""How long projects wait that X refuses for want of money."""

from datetime import UTC, date, datetime, timedelta

import pytest

from trackers.money import depletion
from trackers.money.models import App, Project
from trackers.xapi.errors import Depleted

NOW = datetime(2026, 11, 25, 10, tzinfo=UTC)
CYCLE = date(2026, 12, 14)


@pytest.fixture
def apps(db):
    return [App.objects.named(name) for name in ("first", "second", "third")]


def refuse(app, *, at, **given):
    depletion.mark_depleted(app.pk, Depleted("403 SpendCapReached", **given), now=at)


def waits(app, *, after):
    until = Project.objects.get(pk=app.project_id).depleted_until
    return until and until - after


def test_until_the_day_that_x_names_it_is_asked_once_an_hour(apps):
    for hour in range(5):
        at = NOW + timedelta(hours=hour)
        refuse(apps[0], at=at, resets_on=CYCLE)
        assert waits(apps[0], after=at) == timedelta(hours=1)

    assert "2026-12-14, 00:00 UTC" in Project.objects.get(name="first").depleted_reason


def test_a_project_is_asked_as_the_named_day_begins(apps):
    at = datetime(2026, 12, 13, 23, 40, tzinfo=UTC)

    refuse(apps[0], at=at, resets_on=CYCLE)

    assert waits(apps[0], after=at) == timedelta(minutes=20)


def test_a_day_that_has_begun_says_nothing(apps):
    refuse(apps[0], at=NOW, resets_on=NOW.date())

    assert waits(apps[0], after=NOW) == timedelta(minutes=10)


def test_all_projects_of_the_account_wait_once_x_has_named_it(apps):
    first, second, third = apps
    refuse(second, at=NOW - timedelta(days=40), account=7)
    depletion.end_depletion(second.pk)

    refuse(first, at=NOW, resets_on=CYCLE, account=7)

    assert waits(first, after=NOW) == waits(second, after=NOW) == timedelta(hours=1)
    assert waits(third, after=NOW) is None


def test_a_cap_is_that_of_its_project_alone(apps):
    first, second, _ = apps
    refuse(second, at=NOW - timedelta(days=40), account=7)
    depletion.end_depletion(second.pk)

    refuse(first, at=NOW, account=None)

    assert waits(second, after=NOW) is None
