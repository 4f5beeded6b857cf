"""A minute of every fault, with fewer tweets than `make chaos`, and its books."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.chaos.books import keep_books
from tests.chaos.ground import Pace
from tests.chaos.report import to_text
from tests.chaos.run import run

MINUTES = 1.0
# So few that a machine with other work keeps up: what is lost is to be the faults' doing.
SHORT = Pace(tweets=6_000, every=6, lease=5.0, credentials=8)


# A task has four seconds here: of the machine's time, others leave it too little.
@pytest.mark.alone
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "pace",
    [SHORT, pytest.param(replace(SHORT, adapts=True), marks=pytest.mark.more)],
    ids=["fixed", "adapting"],
)
def test_after_a_minute_of_every_fault_all_books_are_right(tmp_path, pace):
    seed = int(os.environ.get("CHAOS_SEED") or 1)

    evidence = run(seed=seed, minutes=MINUTES, pace=pace, directory=tmp_path)

    books = keep_books(evidence, seconds=60 * MINUTES)
    print(f"\nseed {seed}\n{to_text(books)}")
    assert [book.name for book in books if not book.right] == []
