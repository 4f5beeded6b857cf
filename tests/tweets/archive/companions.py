"""Tweets with facts and checkpoints, and what the archive has of them."""

from datetime import UTC, datetime
from fnmatch import fnmatch
from io import BytesIO

from pyarrow import parquet

from tests.factories import TweetFactory
from tests.tweets.archive.outside import files_in
from tests.tweets.archive.samples import MONTHS
from trackers.tweets.archive.layout import FileKind, schema
from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import cursor

JANUARY = MONTHS[2]


def tracked_with_facts(ids, *, at=datetime(2025, 9, 1, tzinfo=UTC)):
    """Their newest samples are of later than what is archived."""
    for place, id in enumerate(ids):
        TweetFactory(id=id, taken_at=at, measured_until=at, measurements=1, likes=place)
    return ids


def posted_at(at, tweets):
    first = first_id_at(int(at.timestamp() * 1000))
    return [first + place for place in range(tweets)]


def posted_in_january(tweets, *, at=datetime(2025, 1, 31, 23, 59, tzinfo=UTC)):
    return tracked_with_facts(posted_at(at, tweets))


def fill_checkpoints_of(ids):
    """After five and ten minutes, and after an hour."""
    with cursor() as db:
        db.execute(
            "INSERT INTO trackers_packedcheckpoints (tweet_id, ages, retweets, replies, likes,"
            " quotes, bookmarks, views) SELECT id, '{1,2,5}', '{0,0,0}', '{0,0,0}', '{1,2,5}',"
            " '{NULL,NULL,NULL}', '{0,0,0}', '{10,20,50}' FROM unnest(%(ids)s::bigint[]) ids(id)",
            {"ids": ids},
        )


def facts_in(store):
    return _rows(store, FileKind.FACTS)


def copied(store):
    return _rows(store, FileKind.CHECKPOINTS)


def _rows(store, kind):
    """All rows of all files, by id, as any program finds them."""
    rows = []
    for path, data in sorted(files_in(store).items()):
        if not fnmatch(path, f"{kind}/month=*/*.parquet"):
            continue
        table = parquet.ParquetFile(BytesIO(data)).read()
        assert table.schema.equals(schema(kind))
        rows += table.to_pylist()
    return sorted(rows, key=lambda row: row["id"])
