"""What the product is compared with: the same work as one builds it on stock django-q2.

queue, filled beforehand ─> qcluster (django-q2's own) ─> a look-up over HTTP ─> the ORM
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fakex.world.ids import Ids
from tests.benchmarks import loading
from tests.benchmarks.database import PROJECT, Database, Databases
from tests.benchmarks.measuring import NOW
from tests.benchmarks.processes import SEED, Processes, World, cluster

SETTINGS = "tests.benchmarks.stock_settings"
TWEETS = """
    INSERT INTO stock_app_stocktweet (id, due_at, retweets, replies, likes, quotes, bookmarks,
                                      views)
    SELECT id, now() + {due}, 0, 0, 0, 0, 0, 0 FROM loaded ORDER BY id
"""
COUNT = "SELECT count(*) FROM stock_app_stocksample WHERE taken_at >= %s AND taken_at < %s"
WAITING = "SELECT count(*) FROM django_q_ormq"
# More tweets a second than each can do here, so that the queue never runs dry.
PLENTY = {1: 1200, 100: 6000}
# What each reached on two quiet cores, and the share of it below which a ratio does not count.
KNOWN = {1: 590.0, 100: 2300.0}
SHARE = 0.8


@contextmanager
def loaded(databases: Databases, x: World) -> Iterator[Database]:
    with databases.empty(DJANGO_SETTINGS_MODULE=SETTINGS, LOG_LEVEL="WARNING") as database:
        database.manage("migrate", "--run-syncdb", "--verbosity=0")
        ids = Ids(seed=SEED, tweets=x.tweets, start_ms=x.start_ms)
        with database.connect() as db:
            db.execute("CREATE TEMP TABLE loaded (id bigint)")
            with db.cursor().copy("COPY loaded FROM STDIN") as copy:
                for id in ids.between(0, x.tweets):
                    copy.write(b"%d\n" % id)
            db.execute(TWEETS.format(due=loading.ALL_DUE))
            db.execute("VACUUM (ANALYZE) stock_app_stocktweet")
        yield database


def rate(
    processes: Processes, database: Database, *, size: int, seconds: float, address: str
) -> float:
    """Tweets a second with tasks of `size`; `address` of the fake X, "" to do without HTTP."""
    warm_up = min(5.0, seconds / 3)
    fill(database, size=size, tasks=1 + int((seconds + warm_up + 2) * PLENTY[size] / size))
    workers = len(os.sched_getaffinity(0))
    with cluster(processes, database, workers=workers, X_API_BASE_URL=address):
        time.sleep(warm_up)
        begin = database.value(NOW)
        time.sleep(seconds)
        end = database.value(NOW)
        if not database.value(WAITING):
            raise RuntimeError("The queue ran dry before the time was over.")
    count = int(database.value(COUNT, (begin, end)))
    return count / float((end - begin).total_seconds())


def fill(database: Database, *, size: int, tasks: int) -> None:
    database.sql("TRUNCATE django_q_ormq")
    subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.stock_app.enqueue", str(size), str(tasks)],
        cwd=PROJECT,
        env=database.environment,
        check=True,
    )
    database.sql("VACUUM (ANALYZE) django_q_ormq")
