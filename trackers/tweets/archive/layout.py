"""Where things are in an archive, and the columns of its files. pyarrow is imported by what writes
or reads one, since it is an extra and takes a while to load.

    archive.json                                  whose it is
    manifests/2026-01.json                        what there is of a month
    samples/month=2026-01/part-0001.parquet       a row a sample
    facts/month=2026-01/part-0002.parquet         a row a tweet that was measured in that month
    checkpoints/month=2026-01/part-0003.parquet   a row a checkpoint of a tweet posted in that month
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from trackers.tweets.models import METRICS

if TYPE_CHECKING:
    import pyarrow

# Of the columns and of the manifests, for those who read them in years.
SCHEMA_VERSION = 1
OWNER_FILE = "archive.json"


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows for a row group, of tweets whose ids follow each other."""

    table: pyarrow.Table
    reached: int  # up to this id there are no others; LARGEST_ID: nor beyond it


class FileKind(StrEnum):
    """What a row of a file is, and the name of its folder."""

    SAMPLES = "samples"
    FACTS = "facts"
    CHECKPOINTS = "checkpoints"


# Columns that are summed up, in the database, in a file and in its manifest.
SUMMED = {
    FileKind.SAMPLES: ("measurements", "lasted_us", *METRICS),
    FileKind.FACTS: ("measurements", "lasted_us", *METRICS),
    FileKind.CHECKPOINTS: ("age_seconds", *METRICS),
}


def part_path(kind: FileKind, month: date, number: int) -> str:
    return f"{kind}/month={month:%Y-%m}/part-{number:04}.parquet"


def kind_of_file(path: str) -> FileKind:
    """Of a file with a name that `part_path` made. ValueError: it is none."""
    return FileKind(path.partition("/")[0])


def part_number(path: str) -> int:
    """The number in a name that `part_path` made."""
    return int(path.rpartition("-")[2].removesuffix(".parquet"))


def manifest_path(month: date) -> str:
    return f"manifests/{month:%Y-%m}.json"


def month_bounds(month: date) -> tuple[datetime, datetime]:
    """Its first moment, and the first one after it."""
    start = datetime(month.year, month.month, 1, tzinfo=UTC)
    whole = month.year * 12 + month.month
    return start, start.replace(year=whole // 12, month=whole % 12 + 1)


def archived_before(now: datetime, months: int) -> date:
    """The first month of which something is younger than so many months."""
    whole = now.year * 12 + now.month - 1 - months
    return date(whole // 12, whole % 12 + 1, 1)


@cache
def schema(kind: FileKind = FileKind.SAMPLES) -> pyarrow.Schema:
    """Counts are null where they are unknown. `lasted_us` is 0 for nearly all samples, so it takes
    half of the bytes of the time at which they ended."""
    import pyarrow

    of = {
        FileKind.SAMPLES: _of_samples,
        FileKind.FACTS: _of_facts,
        FileKind.CHECKPOINTS: _of_checkpoints,
    }
    counts = [
        pyarrow.field(metric, pyarrow.int64() if metric == "views" else pyarrow.int32())
        for metric in METRICS
    ]
    return pyarrow.schema(
        [pyarrow.field("id", pyarrow.int64(), nullable=False), *of[kind](), *counts]
    )


def _of_samples() -> list[pyarrow.Field]:
    import pyarrow

    return [
        pyarrow.field("taken_at", pyarrow.timestamp("us", tz="UTC"), nullable=False),
        pyarrow.field("lasted_us", pyarrow.int64(), nullable=False),
        pyarrow.field("measurements", pyarrow.int32(), nullable=False),
    ]


def _of_facts() -> list[pyarrow.Field]:
    """The counts are those of the newest sample, also where that is of a later month."""
    import pyarrow

    time = pyarrow.timestamp("us", tz="UTC")
    return [
        pyarrow.field("written_at", time, nullable=False),
        pyarrow.field("author_id", pyarrow.int64()),
        pyarrow.field("username", pyarrow.string()),
        pyarrow.field("name", pyarrow.string()),
        pyarrow.field("posted_at", time),
        pyarrow.field("language", pyarrow.string()),
        pyarrow.field("kind", pyarrow.string()),
        pyarrow.field("came_from", pyarrow.string()),
        pyarrow.field("sources", pyarrow.list_(pyarrow.string()), nullable=False),
        pyarrow.field("state", pyarrow.string(), nullable=False),
        pyarrow.field("taken_at", time),
        pyarrow.field("lasted_us", pyarrow.int64()),
        pyarrow.field("measurements", pyarrow.int32(), nullable=False),
    ]


def _of_checkpoints() -> list[pyarrow.Field]:
    import pyarrow

    return [pyarrow.field("age_seconds", pyarrow.int32(), nullable=False)]


def writing_options(kind: FileKind = FileKind.SAMPLES) -> dict[str, Any]:
    """Of pyarrow's writer. Ids, times and counts change little from row to row, so that each is
    written as the difference to the one before; texts are the same in many rows."""
    import pyarrow

    texts, numbers = [], []
    for field in schema(kind):
        if pyarrow.types.is_list(field.type):
            texts.append(f"{field.name}.list.element")
        elif pyarrow.types.is_string(field.type):
            texts.append(field.name)
        else:
            numbers.append(field.name)
    return {
        "compression": "zstd",
        "use_dictionary": texts or False,
        "column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
        # By these whatever reads it finds a row group; of the others they would say nothing.
        "write_statistics": [name for name in ("id", "taken_at") if name in numbers],
    }
