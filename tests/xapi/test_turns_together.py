"""Takers on connections of their own, at the same time."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from tests.xapi.conftest import save_credential
from trackers.xapi import turns
from trackers.xapi.answers import WindowSeen
from trackers.xapi.models import Window

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
    turns.settle(turns.take(only=credential.pk), window)


def test_no_more_are_taken_than_a_window_has_left():
    for name in ("a", "b"):
        learn(save_credential(name), 30)

    results = together(lambda: [turns.take() for _ in range(20)], threads=6)

    answers = [answer for result in results for answer in result]
    assert len(answers) == 120
    names = Counter(answer.credential.name for answer in answers if isinstance(answer, turns.Turn))
    assert names == {"a": 30, "b": 30}
    assert [len(window.under_way) for window in Window.objects.all()] == [30, 30]


def test_only_one_of_many_gets_to_ask_while_a_window_is_unknown():
    save_credential("a")

    results = together(turns.take, threads=8)

    assert sum(isinstance(answer, turns.Turn) for answer in results) == 1
    assert {type(answer) for answer in results} == {turns.Turn, turns.NoRoom}


def test_who_takes_while_another_holds_the_row_gets_the_other_credential():
    for name in ("a", "b"):
        learn(save_credential(name), 50)

    with transaction.atomic():
        first = turns.take().credential.name
        (second,) = together(lambda: turns.take().credential.name, threads=1)

    assert {first, second} == {"a", "b"}


def test_taking_and_settling_together_never_sees_more_room_than_x_has():
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
            turn = turns.take()
            if isinstance(turn, turns.Turn):
                asked += 1
                pending.append((turn, x_answers()))
            # Some replies are learned late, and the last first.
            while len(pending) > 3 or (pending and not isinstance(turn, turns.Turn)):
                turns.settle(*pending.pop())
            if not isinstance(turn, turns.Turn) and len(counted) >= limit:
                return

    together(work, threads=6)

    assert len(counted) == limit
    assert isinstance(turns.take(), turns.NoRoom)
    assert Window.objects.get(app=credential.app).remaining == 0
