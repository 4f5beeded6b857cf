"""What a sample costs to keep and to read: bytes, a tweet's history, an export of everything."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass

import psutil

from tests.benchmarks.database import PROJECT, Database
from tests.benchmarks.results import Bar, Result
from tests.benchmarks.workshop import Workshop

SAMPLES = 1_000_000
A_TWEET = 48
LONG = 10_000
MB = 1 << 20

# The four partitions of the day before yesterday, which are filled in turn and packed together.
QUARTERS = 4
MAKE = """
from datetime import UTC, datetime, timedelta
from trackers.tweets.pack import SAMPLES
day = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=2)
for quarter in range(4):
    SAMPLES.make(SAMPLES.covering(day + quarter * timedelta(hours=6)))
"""
DAY = "date_trunc('day', now(), 'UTC') - interval '2 days'"
# Every tweet is measured evenly all the time, and each time something has moved. In the order of
# time, as they come in.
FILL = f"""
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                 retweets, replies, likes, quotes, bookmarks, views)
    SELECT 1500000000000000000 + tweet * 4194304::bigint, at, at, 1,
           10 + tweet %% 40 + n / 3, 3 + n / 9, 120 + tweet %% 900 + n * 2, n / 12, n / 5,
           9000 + 17 * n + tweet
    FROM generate_series(%(first)s, %(first)s + %(each)s - 1) n,
         generate_series(1, %(tweets)s) tweet,
         LATERAL (SELECT {DAY} + (n - 1 + tweet / (%(tweets)s + 1)::float8)
                                 * interval '6 hours' / %(each)s) t(at)
"""
LONG_HISTORY = f"""
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                 retweets, replies, likes, quotes, bookmarks, views)
    SELECT 1400000000000000000, at, at, 1, n / 3, n / 9, 2 * n, n / 12, n / 5, 17 * n
    FROM generate_series(1, %(each)s) n,
         LATERAL (SELECT {DAY} + n * interval '24 hours' / (%(each)s + 1)) t(at)
"""
ROWS = """
    SELECT coalesce(sum(pg_table_size(inhrelid)), 0), coalesce(sum(pg_indexes_size(inhrelid)), 0)
    FROM pg_inherits WHERE inhparent = 'trackers_sample'::regclass
"""
PACKED = """
    SELECT pg_table_size('trackers_packedsamples'), pg_indexes_size('trackers_packedsamples')
"""
COUNT_PACKED = "SELECT coalesce(sum(cardinality(taken_at)), 0) FROM trackers_packedsamples"
WAL = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
# No deadline: it measures the packing of all of them.
PACK = """
from datetime import UTC, datetime
from trackers.tweets import pack
from tweetwatch.pieces import Deadline
pack.pack(now=datetime.now(UTC), deadline=Deadline.after(86400))
"""
HISTORY = """
import statistics, time
from trackers.tweets.history import history
times = []
for _ in range(15):
    begun = time.perf_counter()
    runs = history(1400000000000000000)
    times.append(1000 * (time.perf_counter() - begun))
print(len(runs), statistics.median(times))
"""


@dataclass(frozen=True, slots=True)
class Bytes:
    heap: float
    index: float
    wal: float = 0.0

    @property
    def total(self) -> float:
        return self.heap + self.index


@dataclass(frozen=True, slots=True)
class Export:
    """`growth`: how much more memory than soon after its start, in MB."""

    rows: int
    a_second: float
    growth: float


def run(shop: Workshop) -> Result:
    tweets = max(1, shop.size.many(SAMPLES) // A_TWEET)
    samples = tweets * A_TWEET
    with shop.databases.fresh() as database:
        shop.say(f"store: {samples:,} samples of {tweets:,} tweets")
        fresh, packing = quarters(database, tweets)
        packed = bytes_each(database, PACKED, samples, packing)
        count = int(database.value(COUNT_PACKED))
        # After the sizes were taken: one tweet of so many samples would change the mean.
        shell(database, MAKE)
        database.sql(LONG_HISTORY, {"each": LONG})
        shell(database, PACK)
        runs, history = told(database)
        exports = {name: export(database, name) for name in ("jsonl", "csv")}
    return Result(
        name="store",
        rows=[
            {"what": "a sample as it was taken, heap", "value": fresh.heap, "unit": "bytes"},
            {"what": "its index", "value": fresh.index, "unit": "bytes"},
            {"what": "its WAL, loaded at once", "value": fresh.wal, "unit": "bytes"},
            {"what": "a sample packed, heap", "value": packed.heap, "unit": "bytes"},
            {"what": "its share of the index", "value": packed.index, "unit": "bytes"},
            {"what": "WAL of packing it", "value": packed.wal, "unit": "bytes"},
            {"what": f"history of {runs:,} samples", "value": history, "unit": "ms"},
            *(
                {"what": f"export as {name}", "value": one.a_second, "unit": "rows/s"}
                for name, one in exports.items()
            ),
            *(
                {"what": f"memory it grew by, {name}", "value": one.growth, "unit": "MB"}
                for name, one in exports.items()
            ),
        ],
        bars=[
            Bar("a sample a day after it was taken", packed.total, 56, "at most", "bytes"),
            Bar("history of a tweet", history, 20, "at most", "ms"),
            Bar("export", exports["jsonl"].a_second, 500_000, unit="rows/s"),
            Bar("memory an export grows by", exports["jsonl"].growth, 16, "at most", "MB"),
            Bar("samples packed", count, samples, "exactly", book=True),
            Bar("samples of the long history", runs, LONG, "exactly", book=True),
            Bar(
                "samples exported",
                exports["jsonl"].rows,
                samples + LONG,
                "exactly",
                book=True,
            ),
        ],
    )


def quarters(database: Database, tweets: int) -> tuple[Bytes, int]:
    """A day's samples in four parts, packed when it is over; a fresh one, and packing's WAL."""
    shell(database, MAKE)
    each, begun = A_TWEET // QUARTERS, int(database.value(WAL))
    for number in range(QUARTERS):
        given = {"first": 1 + number * each, "each": each, "tweets": tweets}
        database.sql(FILL, given)
    filled = int(database.value(WAL))
    fresh = bytes_each(database, ROWS, tweets * A_TWEET, filled - begun)
    shell(database, PACK)
    packing = int(database.value(WAL)) - filled
    database.sql("VACUUM (ANALYZE) trackers_packedsamples")
    return fresh, packing


def bytes_each(database: Database, sizes: str, samples: int, wal: int) -> Bytes:
    heap, index = database.sql(sizes)[0]
    return Bytes(float(heap) / samples, float(index) / samples, wal / samples)


def shell(database: Database, program: str) -> str:
    return database.manage("shell", "--verbosity=0", "-c", program)


def told(database: Database) -> tuple[int, float]:
    """How many samples the long history has, and the milliseconds that reading them takes."""
    count, milliseconds = shell(database, HISTORY).split()[-2:]
    return int(count), float(milliseconds)


def export(database: Database, format: str) -> Export:
    """Everything through `manage.py export`, from its first byte on."""
    command = [sys.executable, "manage.py", "export", "samples", "--format", format]
    with subprocess.Popen(
        command, cwd=PROJECT, env=database.environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        watched = psutil.Process(process.pid)
        block = process.stdout.read1(1 << 16)
        begun, first = time.monotonic(), watched.memory_info().rss
        rows, most, blocks = block.count(b"\n"), first, 0
        while block := process.stdout.read1(1 << 16):
            rows += block.count(b"\n")
            blocks += 1
            if blocks % 100 == 0:
                most = max(most, watched.memory_info().rss)
        seconds = time.monotonic() - begun
    if process.returncode:
        raise RuntimeError(f"manage.py export ended with {process.returncode}.")
    rows -= format == "csv"
    return Export(rows, rows / max(seconds, 1e-9), (most - first) / MB)
