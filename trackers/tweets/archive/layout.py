"""Where things are in an archive, and the columns of its files. pyarrow is imported by what writes
or reads one, since it is an extra and takes a while to load.

    archive.json                                whose it is
    manifests/2026-01.json                      what there is of a month
    samples/month=2026-01/part-0001.parquet     a row a sample
"""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from trackers.tweets.models import METRICS

if TYPE_CHECKING:
    import pyarrow

# Of the columns and of the manifests, for those who read them in years.
SCHEMA_VERSION = 1
OWNER_FILE = "archive.json"
# All that is summed up, in the database, in a file and in its manifest.
SUMMED = ("measurements", "lasted_us", *METRICS)


def part_path(month: date, number: int) -> str:
    return f"samples/month={month:%Y-%m}/part-{number:04}.parquet"


def part_number(path: str) -> int:
    """The number in a name that `part_path` made."""
    return int(path.rpartition("-")[2].removesuffix(".parquet"))


def manifest_path(month: date) -> str:
    return f"manifests/{month:%Y-%m}.json"


def archived_before(now: datetime, months: int) -> date:
    """The first month of which something is younger than so many months."""
    whole = now.year * 12 + now.month - 1 - months
    return date(whole // 12, whole % 12 + 1, 1)


@cache
def schema() -> pyarrow.Schema:
    """A sample; its counts are null where they are unknown. `lasted_us` is 0 for nearly all, so it
    takes half of the bytes of the time at which it ended."""
    import pyarrow

    return pyarrow.schema(
        [
            pyarrow.field("id", pyarrow.int64(), nullable=False),
            pyarrow.field("taken_at", pyarrow.timestamp("us", tz="UTC"), nullable=False),
            pyarrow.field("lasted_us", pyarrow.int64(), nullable=False),
            pyarrow.field("measurements", pyarrow.int32(), nullable=False),
            *(
                (metric, pyarrow.int64() if metric == "views" else pyarrow.int32())
                for metric in METRICS
            ),
        ]
    )


def writing_options() -> dict[str, Any]:
    """Of pyarrow's writer. Ids, times and counts change little from row to row, so that each is
    written as the difference to the one before."""
    return {
        "compression": "zstd",
        "use_dictionary": False,
        "column_encoding": dict.fromkeys(schema().names, "DELTA_BINARY_PACKED"),
        # By these whatever reads it finds a row group; of the others they would say nothing.
        "write_statistics": ["id", "taken_at"],
    }
