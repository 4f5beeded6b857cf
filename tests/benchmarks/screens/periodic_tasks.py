"""Every task of django-q2's scheduler, once: how long, and how many rows it read and wrote."""

from __future__ import annotations

import json
import time
from typing import Any

from django.utils.module_loading import import_string
from django_q.models import Schedule

from tests.benchmarks.screens.clock import clock
from trackers import tasks
from tweetwatch.database import cursor

# These ask X.
LEFT_OUT = {"trackers.tasks.ask_authors", "trackers.tasks.compare_usage"}
ROWS = """
    SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint,
           coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint
    FROM pg_stat_user_tables
"""
MINUTES = {Schedule.HOURLY: 60, Schedule.DAILY: 1440}


def main(*, rounds: int) -> None:
    periodic = {f"{tasks.__name__}.record_statistics": 0.03} | {
        one.func: one.minutes if one.schedule_type == Schedule.MINUTES else
        MINUTES.get(one.schedule_type, 0)
        for one in Schedule.objects.exclude(func__in=LEFT_OUT)
    }  # fmt: skip
    report = [
        {"task": func.rpartition(".")[2], "minutes": minutes, **of_one(func, rounds=rounds)}
        for func, minutes in sorted(periodic.items(), key=lambda one: (one[1], one[0]))
    ]
    print(json.dumps(report))


def of_one(func: str, *, rounds: int) -> dict[str, Any]:
    """The slowest round: in the first one there is most to do."""
    task = import_string(func)
    slowest: dict[str, Any] = {}
    for _ in range(rounds):
        read, written = rows()
        clock.reset()
        begun = time.perf_counter()
        task()
        took = 1000 * (time.perf_counter() - begun)
        spent, statements = 1000 * clock.spent, clock.statements
        now_read, now_written = rows()
        if took > slowest.get("ms", -1):
            slowest = {
                "ms": took,
                "sql": spent,
                "statements": statements,
                "read": now_read - read,
                "written": now_written - written,
            }
    return slowest


def rows() -> tuple[int, int]:
    with cursor() as db:
        db.execute("SELECT pg_stat_force_next_flush()")
        found = db.execute(ROWS).fetchone()
    assert found is not None
    return found
