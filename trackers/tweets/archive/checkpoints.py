"""Checkpoints of the tweets posted in a month, as Arrow tables, a piece at a time.

Copied, not moved: lists and scores read them here. By when a tweet was posted, which its id says,
so that all of a tweet's are in one month: they end 30 days after, long before that month is
archived.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from trackers.tweets.archive.layout import FileKind, Piece, month_bounds, schema
from trackers.tweets.checkpoints.ages import AGES_S
from trackers.tweets.models import METRICS
from trackers.tweets.snowflake import LARGEST_ID, first_id_at
from tweetwatch.database import cursor
from tweetwatch.statements import statement

# Some 40,000 rows. The limit is a literal, so that the planner knows it.
_TWEETS_PER_GROUP = 2_500
_LAST = f"""
    SELECT tweet_id FROM trackers_packedcheckpoints
    WHERE tweet_id > %(after)s AND tweet_id < %(end)s
    ORDER BY tweet_id OFFSET {_TWEETS_PER_GROUP} - 1 LIMIT 1
"""
_POSTED_BETWEEN = statement(
    __file__,
    "checkpoints",
    metrics=", ".join(METRICS),
    arrays=", ".join(f"p.{metric}" for metric in METRICS),
)


def read_checkpoints(month: date, after: int) -> Piece:
    """Of the next tweets by id that were posted in that month."""
    import pyarrow

    start, end = (first_id_at(round(time.timestamp() * 1000)) for time in month_bounds(month))
    after = max(after, start - 1)
    with cursor() as db:
        row = db.execute(_LAST, {"after": after, "end": end}).fetchone()
        last = row[0] if row else end - 1
        rows = db.execute(_POSTED_BETWEEN, {"after": after, "last": last}, binary=True).fetchall()
    names = schema(FileKind.CHECKPOINTS).names
    columns: dict[str, list[Any]] = {
        name: [row[at] for row in rows] for at, name in enumerate(names)
    }
    columns["age_seconds"] = [round(AGES_S[place - 1]) for place in columns["age_seconds"]]
    return Piece(
        pyarrow.table(columns, schema=schema(FileKind.CHECKPOINTS)), last if row else LARGEST_ID
    )
