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
    now = timezone.now().replace(microsecond=0)
    window = WindowSeen("GET /2/tweets", 100, remaining, now + timedelta(minutes=9), now)
    turns.learn(credential, window)


def test_no_more_are_taken_than_a_window_has_left():
    for name in ("a", "b"):
        learn(save_credential(name), 30)

    results = together(lambda: [turns.take() for _ in range(20)], threads=6)

    answers = [answer for result in results for answer in result]
    assert len(answers) == 120
    names = Counter(answer.credential.name for answer in answers if isinstance(answer, turns.Turn))
    assert names == {"a": 30, "b": 30}
    assert set(Window.objects.values_list("remaining", flat=True)) == {0}


def test_everyone_gets_a_turn_while_there_is_only_one_credential():
    learn(save_credential("a"), 90)

    results = together(lambda: [turns.take() for _ in range(10)], threads=6)

    assert sum(isinstance(answer, turns.Turn) for result in results for answer in result) == 60
    assert Window.objects.get().remaining == 30


def test_who_takes_while_another_holds_the_row_gets_the_other_credential():
    for name in ("a", "b"):
        save_credential(name)

    with transaction.atomic():
        first = turns.take().credential.name
        (second,) = together(lambda: turns.take().credential.name, threads=1)

    assert (first, second) == ("a", "b")
