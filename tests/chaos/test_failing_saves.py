"""A database that is there and cannot save: nothing is isolated, and X is hardly asked."""

import time
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.chaos.conftest import FEW, prepared
from tests.chaos.ground import wait_until
from tests.chaos.strikes import CANNOT_SAVE

# A small installation: all of its tweets are in one batch, so that no other proves anything.
TWEETS = 40
FAILS_FOR = 10 * FEW.lease


@pytest.fixture
def forty(tmp_path):
    with prepared(tmp_path, replace(FEW, tweets=TWEETS)) as made:
        yield made


@pytest.mark.parametrize("fault", CANNOT_SAVE)
def test_saves_that_fail_isolate_nothing_and_cost_nothing_twice(forty, fault):
    begin, end = CANNOT_SAVE[fault]
    execute(forty, begin)
    began = time.time()
    forty.start(is_saving=False)
    wait_until(lambda: forty.has_logged("could not be saved"), within=60, what="the log says why")

    time.sleep(FAILS_FOR)

    asked = [one for one in forty.lookups() if one["at_ms"] > began * 1000]
    held = forty.postgres.value(
        "SELECT held_reason FROM trackers_queue WHERE name = 'tweet:update'"
    )
    assert "The database could not save" in held
    # Both workers may have asked before the first save failed. From then on each trial waits for
    # the hold that the one before it left, of at least 0.8 s; where nothing at all can be written
    # it does not even ask.
    waits = [(after["at_ms"] - before["at_ms"]) / 1000 for before, after in pairwise(asked[4:])]
    assert min(waits, default=1) > 0.7, "X is asked a request at a time, and then the queue waits"
    execute(forty, end)
    forty.all_looked_up_after(time.time(), within=60)

    # What X bills: each tweet once on a day, of which there are two if X's midnight came meanwhile.
    # Each worker settles what it could not with its next batch.
    wait_until(
        lambda: spent(forty) in ([(TWEETS, 0)], [(TWEETS, 0)] * 2),
        within=30,
        what=f"the books say what X bills, not {spent(forty)}",
    )

    assert forty.host.stop(30) == 0
    strikes = "SELECT coalesce(max(strikes), 0) FROM {}"
    assert forty.postgres.value(strikes.format("trackers_tweetbucket")) == 0
    assert forty.postgres.value(strikes.format("trackers_tweetupdate")) == 0


def execute(forty, statements):
    with forty.postgres.connect() as db:
        db.execute(statements)


def spent(forty):
    """(Tweet-days, those still reserved) of each day."""
    return forty.postgres.rows("SELECT posts, posts_reserved FROM trackers_spending")
