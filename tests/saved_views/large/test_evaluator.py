"""However many tweets there are, no table is walked over for a saved view's newest ones, and which
of some tweets it has is found by their keys.

`SEARCH_TWEETS=1000000 pytest tests/saved_views/large -s` prints what each costs at that size.
"""

import time
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from tests.pages.many import fill
from tests.pages.tweets.large.test_search_plans import (
    SEARCHES,
    TWEETS,
    touched,
)
from trackers.listing.saved import matching_among, newest_matches
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

MOST = 50
# Asked of at a time: as many as a minute's rules find.
AMONG = 1_000
# Of each of them, a row in six tables, and what the names of authors and tags take to be found.
MOST_AMONG = 6 * AMONG + 2_000


def read(do, *, mode):
    """What it returns, how many rows it read, and for how long."""
    for _ in range(1 if mode == "auto" else 4):
        with transaction.atomic(), cursor() as db:
            db.execute(f"SET LOCAL plan_cache_mode = {mode}")
            before, began = touched(db), time.perf_counter()
            made = do()
            took = (time.perf_counter() - began) * 1000
            after = touched(db)
    assert {table for table in after if after[table].scans > before[table].scans} == set()
    return made, sum(after[table].rows - before[table].rows for table in after), took


def test_a_view_is_evaluated_by_keys(capsys):
    fill(TWEETS)
    now = timezone.now()
    ids = Tweet.objects.values_list("pk", flat=True)
    some = [*ids.order_by("-pk")[: AMONG // 2], *ids.order_by("pk")[: AMONG // 2]]
    over = {}
    for name, query in SEARCHES.items():
        for mode in ("auto", "force_generic_plan"):
            newest, rows, took = read(partial(newest_matches, query, now=now, most=MOST), mode=mode)
            among, rows_among, took_among = read(
                partial(matching_among, query, some, now=now), mode=mode
            )
            with capsys.disabled():
                print(
                    f"{name:36} {mode:20} newest {rows:>7,} {took:5.0f} ms,"
                    f" among {rows_among:>6,} {took_among:4.0f} ms"
                )
            assert len(newest.ids) <= MOST
            assert set(newest.ids) & set(some) <= among, name
            if rows_among > MOST_AMONG:
                over[name, mode] = rows_among
    assert over == {}
