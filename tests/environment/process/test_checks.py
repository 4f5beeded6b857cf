"""`manage.py check` compares the time-outs with what is in the database."""

import os
import subprocess
import sys

import pytest
from django.core.checks import run_checks
from django.utils import timezone

from tests.conftest import PROJECT
from tests.factories import CredentialFactory
from trackers.jobs.models import Queue


@pytest.mark.parametrize("command", ["check", "interval list"])
def test_a_task_time_limit_beyond_a_lease_stops_every_command(fresh_database, command):
    ran = subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": fresh_database, "TASK_TIMEOUT": "600"},
        capture_output=True,
        text=True,
    )

    assert ran.returncode == 1
    assert "TASK_TIMEOUT (600 s) is not shorter than the lease of tweet:update (60 s)" in ran.stderr


def test_a_command_loads_no_page_no_fake_x_and_nothing_of_the_api(fresh_database):
    program = (
        "import sys; from tweetwatch.command_line import run_command;"
        "status = run_command(['manage.py', 'interval', 'list', '--json']);"
        "seen = {'trackers.dashboards.urls', 'trackers.api.urls', 'fakex.x', 'ninja', 'pydantic'};"
        "print(*sorted(seen & set(sys.modules)), file=sys.stderr); sys.exit(status)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        env={
            **os.environ,
            "DATABASE_URL": fresh_database,
            "DJANGO_SETTINGS_MODULE": "tweetwatch.settings",
        },
        capture_output=True,
        text=True,
    )

    assert (ran.returncode, ran.stderr.split()) == (0, [])


@pytest.mark.django_db
def test_a_longer_lease_allows_a_longer_task(settings):
    settings.TASK_TIMEOUT = 600
    assert {one.id for one in run_checks()} >= {"trackers.E001"}

    Queue.objects.update(lease="0:15:00")

    assert not [one for one in run_checks() if one.id == "trackers.E001"]


@pytest.mark.django_db
def test_two_requests_fit_into_a_task_where_tokens_are_renewed(settings):
    settings.TASK_TIMEOUT = 29
    assert not [one for one in run_checks() if one.id == "trackers.E002"]

    user = CredentialFactory(name="user", kind="oauth2")

    [error] = [one for one in run_checks() if one.id == "trackers.E002"]
    assert "twice REQUEST_TIMEOUT (30 s)" in error.msg
    assert "the credential user" in error.msg
    user.disable("by hand", now=timezone.now())
    assert not [one for one in run_checks() if one.id == "trackers.E002"]
