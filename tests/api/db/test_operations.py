"""Queues, workers, credentials and budgets by the API: what there is, and never a secret."""

from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from tests.api.conftest import Program
from tests.factories import CredentialFactory
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import Worker
from trackers.money.models import Project, Spending


def test_queues_are_listed_paused_and_resumed(owner):
    told = {one["name"]: one for one in owner.get("queues")["queues"]}
    assert (told["tweet:update"]["paused"], told["tweet:update"]["due"]) == (False, 0)

    for act, paused in (("pause", True), ("pause", True), ("resume", False)):
        owner.post(f"queues/tweet:update/{act}")
        assert (owner.status, Queue.objects.get(name="tweet:update").paused) == (204, paused)
    assert LogEntry.objects.count() == 2
    owner.post("queues/other/pause")
    assert owner.status == 404


def test_only_a_token_of_scope_admin_can_pause_a_queue(owner):
    writer = Program(owner.client, owner.user, "write")
    assert "scope admin" in writer.post("queues/tweet:update/pause")["error"]
    assert (writer.status, Queue.objects.filter(paused=True).count()) == (403, 0)


def test_workers_are_listed_including_silent_ones(owner):
    now = timezone.now()
    for pid, seen in ((1, now), (2, now - 2 * Worker.SILENT_AFTER)):
        Worker.objects.create(
            cluster=uuid4(), host="h", pid=pid, kind="worker", started_at=now, seen_at=seen
        )
    assert {one["pid"]: one["alive"] for one in owner.get("workers")["workers"]} == {
        1: True,
        2: False,
    }


def test_credentials_are_listed_without_their_secrets(owner):
    CredentialFactory(name="main")
    [told] = owner.get("credentials")["credentials"]
    assert (told["name"], told["state"], told["windows"]) == ("main", "ready", [])
    assert "token-of-main" not in str(owner.body)


def test_budgets_are_listed_with_money_as_text(owner):
    project = Project.objects.create(name="p", posts_a_day=100)
    Spending.objects.create(project=project, day=timezone.now().date(), posts=7, money="0.035")
    [answer] = owner.get("budgets")["budgets"]
    assert (answer["project"], answer["tweet_days_today"], answer["tweet_days_left_today"]) == (
        "p",
        7,
        93,
    )
    assert (answer["money_today"], answer["money_a_day"]) == ("0.035000", None)


@pytest.mark.parametrize("path", ["queues", "workers", "credentials", "budgets"])
def test_each_list_needs_its_permission(program, path):
    assert "lacks the permission trackers.view_" in program.get(path)["error"]
    assert program.status == 403
