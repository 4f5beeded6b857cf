"""Takers on connections of their own, at the same time."""

import random
import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from tests.x import save_credential, wait_until
from trackers.credentials import selection
from trackers.credentials.models import Credential, Window
from trackers.xapi.endpoints import ACCOUNTS, LOOKUP_BY_IDS, SEARCH, USAGE_COUNT
from trackers.xapi.results import WindowSeen
from tweetwatch import database

pytestmark = pytest.mark.django_db(transaction=True)


def together(act, *, threads):
    """What each of `threads` threads made of it, begun at once."""
    results, begin = [], threading.Barrier(threads)

    def run():
        begin.wait(10)
        try:
            results.append(act())
        finally:
            connection.close()

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(30)
    return results


def learn(credential, remaining):
    """X tells of a window with so many requests left, as the reply to a first one."""
    now = timezone.now().replace(microsecond=0)
    window = WindowSeen("GET /2/tweets", 100, remaining, now + timedelta(minutes=9), now)
    selection.settle_answer(selection.select_credential(only=credential.pk), window)


def test_concurrent_workers_never_reserve_more_than_a_window_has():
    for name in ("a", "b"):
        learn(save_credential(name), 30)

    results = together(lambda: [selection.select_credential() for _ in range(20)], threads=6)

    answers = [answer for result in results for answer in result]
    assert len(answers) == 120
    names = Counter(
        answer.credential.name for answer in answers if isinstance(answer, selection.Selection)
    )
    assert names == {"a": 30, "b": 30}
    assert [len(window.under_way) for window in Window.objects.all()] == [30, 30]


def test_only_one_of_many_workers_probes_an_unknown_window():
    save_credential("a")

    results = together(selection.select_credential, threads=8)

    assert sum(isinstance(answer, selection.Selection) for answer in results) == 1
    assert {type(answer) for answer in results} == {selection.Selection, selection.NoRoom}


def test_a_locked_credential_is_skipped_for_another():
    for name in ("a", "b"):
        learn(save_credential(name), 50)

    with transaction.atomic():
        first = selection.select_credential().credential.name
        (second,) = together(lambda: selection.select_credential().credential.name, threads=1)

    assert {first, second} == {"a", "b"}


@pytest.mark.parametrize("most", [1, 7])
def test_concurrent_reserving_and_settling_never_exceeds_the_room_of_x(most):
    """A model of X counts what arrives; replies come back in any order."""
    credential = save_credential("a")
    limit, lock, counted = 200, threading.Lock(), []
    now = timezone.now().replace(microsecond=0)

    def x_answers():
        with lock:
            counted.append(1)
            return WindowSeen(
                "GET /2/tweets", limit, limit - len(counted), now + timedelta(minutes=9), now
            )

    def work():
        pending, asked = [], 0
        while asked < 60:
            found = selection.select_several(most)
            taken = [] if isinstance(found, selection.NoRoom) else list(found)
            asked += len(taken)
            # They arrive in any order, too.
            pending += [(turn, x_answers()) for turn in random.sample(taken, len(taken))]
            # Some replies are learned late, and the last first.
            while len(pending) > 3 or (pending and not taken):
                selection.settle_all_answered(
                    [pending.pop() for _ in range(min(most, len(pending)))]
                )
            if not taken and len(counted) >= limit:
                return

    together(work, threads=6)

    assert len(counted) == limit
    assert isinstance(selection.select_credential(), selection.NoRoom)
    assert Window.objects.get(app=credential.app).remaining == 0


def test_concurrent_reservations_of_several_never_exceed_the_window():
    for name in ("a", "b"):
        learn(save_credential(name), 30)

    def work():
        taken = []
        while not isinstance(found := selection.select_several(7), selection.NoRoom):
            taken += found
        return taken

    taken = [turn for result in together(work, threads=6) for turn in result]

    assert Counter(turn.credential.name for turn in taken) == {"a": 30, "b": 30}
    assert len({turn.reservation for turn in taken}) == 60
    assert [len(window.under_way) for window in Window.objects.all()] == [30, 30]


def somebody_waits_for_a_lock():
    with connection.cursor() as db:
        # In a transaction the view stays as it was at the first look.
        db.execute("SELECT pg_stat_clear_snapshot()")
        db.execute(
            "SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return db.fetchone() is not None


def test_a_worker_that_waited_for_a_window_takes_the_remainder():
    learn(save_credential("a"), 10)
    collected = []

    def take_ten():
        collected.extend(together(lambda: selection.select_several(10), threads=1))

    waiting = threading.Thread(target=take_ten)
    with transaction.atomic():
        assert len(selection.select_several(7)) == 7
        waiting.start()
        wait_until(somebody_waits_for_a_lock)
    waiting.join(30)

    assert [len(taken) for taken in collected] == [3]
    assert len({*Window.objects.get().under_way}) == 10


def test_settling_several_windows_never_deadlocks():
    """Locks: by id, though X's Dates tell the order in which replies are learned."""
    credentials = [save_credential(name) for name in ("a", "b")]
    for credential in credentials:
        learn(credential, 100_000)
    now = timezone.now().replace(microsecond=0)
    turned_round = iter([1, -1])

    def work():
        by_date = credentials[:: next(turned_round)]
        for _ in range(60):
            taken = [selection.select_credential(only=one.pk) for one in by_date]
            with database.together():
                selection.settle_all_answered(
                    [
                        (
                            turn,
                            WindowSeen(
                                "GET /2/tweets",
                                100_000,
                                90_000,
                                now + timedelta(minutes=9),
                                now + timedelta(seconds=date),
                            ),
                        )
                        for date, turn in enumerate(taken)
                    ]
                )
        return "done"

    assert together(work, threads=2) == ["done", "done"]


def test_one_of_many_workers_takes_the_try_of_refused_keys_whatever_it_asks():
    Credential.objects.filter(pk=save_credential("a").pk).update(refused=3)
    endpoints = iter([LOOKUP_BY_IDS, ACCOUNTS, SEARCH, USAGE_COUNT] * 2)

    results = together(lambda: selection.select_credential(next(endpoints)), threads=8)

    assert Counter(type(answer) for answer in results) == {
        selection.Selection: 1,
        selection.NoCredential: 7,
    }
