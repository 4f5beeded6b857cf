"""The store: one entry to 1,000 timelines beside the bare rows, and eight writers at once."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator

from django.db import connection

from tests.benchmarks.timelines.turns import in_turns
from trackers.timelines import store
from trackers.timelines.store import Bounds, Entry
from tweetwatch.database import array, cursor

TIMELINES, WRITERS = 2_000, 8
ROUNDS, TURNS = 60, 60
# Nothing is cut.
UNBOUNDED = Bounds(10**6 - 1, 10**6)
# Indexes built at once on both, or they would differ in how full their pages are.
FILL = (
    "INSERT INTO trackers_timeline (name, live, seq, size) SELECT 'bench:' || n, true,"
    " %(each)s::int, %(each)s::int FROM generate_series(1, %(timelines)s::int) n",
    "INSERT INTO trackers_timelineentry (timeline_id, entry_id, seq) SELECT t.id, g, g"
    " FROM generate_series(1, %(each)s::int) g, trackers_timeline t",
    "CREATE TABLE bare (LIKE trackers_timelineentry)",
    "INSERT INTO bare SELECT * FROM trackers_timelineentry",
    "ALTER TABLE bare ADD PRIMARY KEY (timeline_id, entry_id)",
    "CREATE INDEX bare_seq ON bare (timeline_id, seq)",
    "REINDEX TABLE trackers_timelineentry",
    "VACUUM (ANALYZE) bare, trackers_timelineentry, trackers_timeline",
)
BYTES = """
    SELECT pg_table_size('trackers_timelineentry') / count(*)::float8,
           pg_indexes_size('trackers_timelineentry') / count(*)::float8
    FROM trackers_timelineentry
"""
BARE = """
    INSERT INTO bare (timeline_id, entry_id, seq)
    SELECT id, %(entry)s, %(entry)s FROM unnest(%(ids)s::bigint[]) id
"""
IDS = "SELECT id FROM trackers_timeline WHERE name = ANY(%(names)s::text[]) ORDER BY name"
# Of what one of the writers appended; each of them has a million of its own.
KEPT = """
    SELECT name, array_agg(entry_id) FROM trackers_timeline t
    JOIN trackers_timelineentry e ON e.timeline_id = t.id
    WHERE name = ANY(%(names)s::text[]) AND entry_id >= %(least)s AND dead_at IS NULL
    GROUP BY name
"""
LEAST = 10**9


def main(*, each: int, rounds: int = ROUNDS, turns: int = TURNS) -> None:
    with cursor() as db:
        for statement in FILL:
            known = {"each": each, "timelines": TIMELINES}
            given = {name: value for name, value in known.items() if f"%({name})s" in statement}
            db.execute(statement, given or None, prepare=False)
        heap, index = db.execute(BYTES).fetchone() or (0.0, 0.0)
    # Every other one, as the followers of a source are some among all.
    took = beside_bare([f"bench:{n}" for n in range(1, TIMELINES, 2)], rounds)
    lost, faults = at_once([f"bench:{n}" for n in range(1, 101)], turns)
    told = {"heap": heap, "index": index, "took": took, "lost": lost, "faults": faults}
    print(json.dumps(told))


def beside_bare(names: list[str], rounds: int) -> dict[str, list[float]]:
    with cursor() as db:
        ids = array(row[0] for row in db.execute(IDS, {"names": names}))
    entries = iter(range(10**6, 10**7))

    def bare() -> None:
        with cursor() as db:
            db.execute(BARE, {"entry": next(entries), "ids": ids})

    def append() -> None:
        store.append(Entry(next(entries)), names, bounds=UNBOUNDED)

    return in_turns({"bare": bare, "append": append}, rounds=rounds)


def at_once(names: list[str], turns: int) -> tuple[int, list[str]]:
    """How many entries are missing, and what went wrong. Each writer appends and deletes its own,
    to and from many timelines in any order, as all the others do at the same time."""
    wanted: dict[str, set[int]] = {name: set() for name in names}
    acts = [list(writes(writer, names, wanted, turns)) for writer in range(WRITERS)]
    start, faults = threading.Barrier(WRITERS), []

    def run(mine: list[Callable[[], None]]) -> None:
        try:
            connection.ensure_connection()
            start.wait(60)
            for act in mine:
                act()
        except Exception as fault:
            faults.append(repr(fault))
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(mine,)) for mine in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with cursor() as db:
        rows = db.execute(KEPT, {"names": names, "least": LEAST})
        kept = {name: set(ids) for name, ids in rows}
    # Too many are wrong as well: deleted ones that came back.
    return sum(len(wanted[name] ^ kept.get(name, set())) for name in names), faults


def writes(
    writer: int, names: list[str], wanted: dict[str, set[int]], turns: int
) -> Iterator[Callable[[], None]]:
    chance = random.Random(writer)
    for turn in range(turns):
        id, some = LEAST + writer * 10**6 + turn, chance.sample(names, len(names) // 2)
        deleted = set(chance.sample(some, 5)) if turn % 3 == 0 else set()
        for name in set(some) - deleted:
            wanted[name].add(id)
        yield lambda id=id, some=some: store.append(Entry(id), some, bounds=UNBOUNDED)
        if deleted:
            yield lambda id=id, deleted=deleted: store.delete(id, deleted)
