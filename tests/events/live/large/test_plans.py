"""However much the feed holds, a look, a read and a page read a bounded part of it."""

import pytest

from tests.events.live.conftest import run, watch
from tests.plans import watched
from trackers.events.live.cursor import Cursor
from trackers.events.live.read import first_read, newest_events, newest_place, read_on
from trackers.events.live.watch import FEED_KEPT_FOR, PRUNE_FEED
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db

ROWS, EVENTS = 20_000, 5
FEED, TOLD = "trackers_liveevents", "trackers_event"
FILL = (
    f"""
    INSERT INTO {TOLD} (topic_id, type, t, tweet_id)
    SELECT (SELECT id FROM trackers_topic WHERE name = 'tweets'), 'update', n, n
    FROM generate_series(1, {ROWS * EVENTS}) n
    """,
    f"""
    INSERT INTO {FEED} (place, spread_at, first_at, last_at, topics, events)
    SELECT (1000 + n)::bigint << 20, now() - interval '2 h' + n * interval '0.36 s', now(), now(),
           array_fill((SELECT id FROM trackers_topic WHERE name = 'tweets'), ARRAY[{EVENTS}]),
           ARRAY(SELECT low + n * {EVENTS} + k FROM generate_series(0, {EVENTS - 1}) k)
    FROM generate_series(0, {ROWS - 1}) n, (SELECT min(id) AS low FROM {TOLD}) first
    """,
)  # fmt: skip
STATISTICS = {
    "of an emptied table": (*FILL, f"DELETE FROM {FEED}", f"DELETE FROM {TOLD}",
                            f"ANALYZE {FEED}, {TOLD}", *FILL),
    "fresh": (*FILL, f"ANALYZE {FEED}, {TOLD}"),
}  # fmt: skip


def forget():
    with cursor() as db:
        return db.execute(PRUNE_FEED, {"kept": FEED_KEPT_FOR}).rowcount


@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_read_does_not_grow_with_the_number_of_live_events(monkeypatch, statistics):
    wanted = watch("tweets")
    run(f"DELETE FROM {FEED}")
    for statement in STATISTICS[statistics]:
        run(statement)
    oldest, middle = Cursor(1000 << 20), Cursor((1000 + ROWS // 2) << 20, 3)
    acts = {
        "look": newest_place,
        "begin": lambda: first_read(middle),
        "read the oldest": lambda: read_on(oldest, wanted),
        "read": lambda: read_on(middle, wanted),
        "page": lambda: newest_events(Cursor(0), wanted),
        "what came since": lambda: newest_events(middle, wanted),
        "watch": lambda: watch("tweets", "milestones"),
        "forget": forget,
    }
    assert len(read_on(middle, wanted).events) == 10 * EVENTS - 3
    assert len(newest_events(Cursor(0), wanted)) == 100

    for name, act in acts.items():
        with watched(monkeypatch) as watch_of:
            act()
        seen = [one for one in watch_of.reached if one.table.startswith((FEED, TOLD))]
        assert seen or name == "watch"
        assert max((one.rows for one in seen), default=0) <= 1001, (name, seen)
