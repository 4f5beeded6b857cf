"""Packed samples of months long ago, and what the database and the archive have of them."""

from datetime import UTC, date, datetime, timedelta
from fnmatch import fnmatch
from io import BytesIO

import pytest
from pyarrow import parquet

from tests.tweets.archive.outside import files_in
from trackers.tweets.archive.models import ArchiveFile
from trackers.tweets.archive.write import archive_months
from trackers.tweets.history import history
from trackers.tweets.models import METRICS, PackedSamples
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

FIRST = 1_500_000_000_000_000_000
MONTHS = (date(2024, 11, 1), date(2024, 12, 1), date(2025, 1, 1))
BEFORE = date(2025, 2, 1)
on_both = pytest.mark.parametrize("store", ["directory", "bucket"], indirect=True)
LATER = Deadline.after(36_000)
FILL = f"""
    INSERT INTO trackers_packedsamples
    SELECT %(first)s + tweet * 4194304, month,
           array_agg(at), array_agg(at + lasted), array_agg(1 + n %% 3),
           array_agg(nullif(n + tweet, 5)), array_agg(n / 3), array_agg(-n * 1000),
           array_agg(NULL::int), array_agg(n %% 7), array_agg(nullif(n * {10**10}, 0))
    FROM generate_series(1, %(tweets)s::int) tweet, unnest(%(months)s::date[]) month,
         generate_series(0, %(each)s::int - 1) n,
         LATERAL (SELECT month + interval '1 microsecond'
                         + n * interval '27 days' / %(each)s,
                         n %% 4 * interval '61.000001 seconds') times(at, lasted)
    GROUP BY tweet, month
"""


def fill(*, tweets=5, each=4, months=MONTHS):
    with cursor() as db:
        # The start of a month is that of UTC.
        db.execute("SET LOCAL TimeZone = 'UTC'")
        db.execute(FILL, {"first": FIRST, "tweets": tweets, "each": each, "months": list(months)})
    return [FIRST + (tweet + 1) * 4194304 for tweet in range(tweets)]


def append(tweet_id, month, *, likes=77):
    """A sample that is packed late."""
    row = PackedSamples.objects.get(tweet_id=tweet_id, month=month)
    at = datetime(month.year, month.month, 3, 4, 5, 6, 789, tzinfo=UTC)
    row.taken_at.append(at)
    row.measured_until.append(at)
    row.measurements.append(1)
    for metric in METRICS:
        getattr(row, metric).append(likes if metric == "likes" else None)
    row.save()


def archive(store, *, deadline=LATER, before=BEFORE):
    return archive_months(store, before=before, deadline=deadline)


def here():
    """How many samples are packed here."""
    return sum(len(row.taken_at) for row in PackedSamples.objects.all())


def counted():
    """How many samples the files have that count."""
    return sum(file.samples for file in ArchiveFile.objects.filter(state="written"))


def histories_of(ids):
    return {id: list(history(id)) for id in ids}


def as_others_read(place):
    """All samples in all the files, by id and time, as any program finds them."""
    rows = []
    for path, data in sorted(files_in(place).items()):
        if not fnmatch(path, "samples/month=*/*.parquet"):
            continue
        table = parquet.ParquetFile(BytesIO(data)).read().to_pylist()
        month = path.split("/")[1].removeprefix("month=")
        for row in table:
            until = row["taken_at"] + timedelta(microseconds=row["lasted_us"])
            assert f"{until:%Y-%m}" == month
            figures = [row[metric] for metric in METRICS]
            rows.append((row["id"], row["taken_at"], until, row["measurements"], *figures))
    return sorted(rows, key=lambda row: row[:2])
