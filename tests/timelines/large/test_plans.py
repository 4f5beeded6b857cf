"""No statement of the store reads more with more timelines, or more entries of others.

Not a list of statements: whatever the store asks the database is explained, as it is and as a
generic plan. A dump alone reads all, and is not looked at.
"""

import io
from datetime import timedelta

import pytest

from tests.plans import MODES, watched
from tests.timelines.states import entries
from trackers.timelines import expiry, reads, store
from trackers.timelines.store import Ask, Entry
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db

TIMELINE, ENTRY = TABLES = ("trackers_timeline", "trackers_timelineentry")
# Entries of each timeline. One is a tombstone, and in each tenth timeline another, an old one.
EACH = 100
FILL = (
    f"INSERT INTO {TIMELINE} (name, live, seq, size, last_read_at, read_on)"
    f" SELECT 'home:' || n, true, {EACH}, {EACH} - 2, now() - n * interval '1 minute',"
    "        (now() - n * interval '1 minute')::date FROM generate_series(1, %(timelines)s) n",
    f"INSERT INTO {TIMELINE} (name, live)"
    " SELECT 'empty:' || n, true FROM generate_series(1, 10000) n",
    f"INSERT INTO {ENTRY} (timeline_id, entry_id, seq, secondary, metadata, dead_at)"
    f" SELECT t.id, 1000 * n, n, CASE WHEN n %% 5 = 0 THEN 1000 * (n - 1) END, NULL,"
    "        CASE WHEN n = 7 THEN now()"
    "             WHEN n = 57 AND t.id %% 10 = 0 THEN now() - interval '200 days' END"
    f" FROM {TIMELINE} t, generate_series(1, {EACH}) n WHERE t.name LIKE 'home:%%'",
)
# As fast as an index is built at once. They are what the migration made, name by name.
INDEXES = "SELECT indexdef FROM pg_indexes WHERE tablename = %(table)s AND indexdef !~ 'UNIQUE'"
DROP = (
    "DROP INDEX timelineentry_seq, timelineentry_dead",
    f"ALTER TABLE {ENTRY} DROP CONSTRAINT {ENTRY}_pkey",
)
KEY = f"ALTER TABLE {ENTRY} ADD PRIMARY KEY (timeline_id, entry_id)"


def run(db, *statements, **given):
    return [db.execute(one, given or None, prepare=False) for one in statements][-1]


def fill(db, timelines):
    made = [row[0] for row in run(db, INDEXES, table=ENTRY).fetchall()]
    run(db, *DROP)
    run(db, *FILL, timelines=timelines)
    run(db, *made, KEY)


def fresh_statistics(db):
    """A million entries."""
    fill(db, 10_000)
    run(db, *(f"ANALYZE {table}" for table in TABLES))
    return 10_000


def no_statistics(db):
    fill(db, 2_000)
    return 2_000


def statistics_of_empty_tables(db):
    fill(db, 2_000)
    run(db, *(f"DELETE FROM {table}" for table in TABLES))
    run(db, *(f"ANALYZE {table}" for table in TABLES))
    fill(db, 2_000)
    return 2_000


@pytest.fixture(params=[fresh_statistics, no_statistics, statistics_of_empty_tables])
def filled(request):
    with cursor() as db:
        # Of rows that others have updated and a session still sees, a new index knows only part; it
        # is not used until that session is over.
        run(db, f"TRUNCATE {', '.join(TABLES)}")
        return request.param(db)


def whatever_is_done(timelines):
    homes = [f"home:{n}" for n in range(100, 160)]
    new = [f"new:{n}" for n in range(10)]
    yield lambda: store.append(Entry(10**6), homes)
    yield lambda: store.append_many([(name, Entry(10**6 + n)) for n in range(20) for name in homes])
    yield lambda: store.append_many(
        [(name, Entry(2 * 10**6 + (n + k) % 21)) for n in range(20) for k, name in enumerate(homes)]
    )
    yield lambda: store.delete([10**6, 1000, 5], [*homes, *new])
    yield lambda: store.set("home:200", entries(*range(1000, 90_000, 1000), 5))
    yield lambda: store.set("another", entries(5))
    yield lambda: store.merge("home:201", entries(*range(500, 90_000, 500)))
    yield lambda: store.merge("home:202", entries(*range(900)))
    yield lambda: store.unmerge("home:201", entries(*range(500, 90_000, 500)))
    yield lambda: store.merge_from("home:203", "home:201")
    yield lambda: store.unmerge_from("home:203", "home:201")
    yield lambda: store.get("home:300", 0, 50)
    yield lambda: store.get("home:300", 20, 50, dedupe=True)
    yield lambda: store.get_since("home:301", 90_000)
    yield lambda: store.get_since("home:301", 90_000, dedupe=True)
    yield lambda: store.get_multi(
        [Ask(name, n, 10, since=since) for n, name in enumerate(homes) for since in (None, 50_000)]
    )
    yield lambda: store.filter("home:302", [50_000, 51_000], 60)
    yield lambda: store.drop("home:303")
    yield lambda: reads.listing(prefix="home:1", limit=20)
    yield lambda: store.restore(io.BytesIO(SMALL.getvalue()))
    yield lambda: expire(timelines)


def expire(timelines):
    """Of the timelines those that were read longest ago, of the tombstones some pieces."""
    over = Deadline.after(0)
    unread = timedelta(minutes=timelines - 60)
    store.expire(unread, tombstones=timedelta(days=36_000))
    expiry.expire_in_pieces(idle=unread - timedelta(minutes=70), deadline=over)


SMALL = io.BytesIO()


@pytest.fixture
def small():
    """A snapshot of a few timelines, taken while there are no others."""
    for n in range(100, 110):
        store.set(f"home:{n}", entries(*range(100)))
    SMALL.seek(0)
    SMALL.truncate()
    store.snapshot(SMALL)
    with cursor() as db:
        run(db, *(f"DELETE FROM {table}" for table in TABLES))


def test_no_statement_reads_more_with_more_timelines(small, filled, monkeypatch, capsys):
    with watched(monkeypatch) as watch:
        for act in whatever_is_done(filled):
            act()

    reached = [one for one in watch.reached if one.table in TABLES]
    most = max(reached, key=lambda one: one.rows)
    with capsys.disabled():
        print(f"\n{len(reached)} ways, at most {most.rows:.0f} rows: {most.statement}")
    for mode in MODES:
        assert {one.table for one in reached if one.mode == mode} == {*TABLES}
    # All entries of the 60 that many asks are of, or a piece of tombstones.
    assert [one for one in reached if one.rows > 9_000 or one.how == "Seq Scan"] == []
