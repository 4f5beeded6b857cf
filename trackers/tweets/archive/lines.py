"""Archived samples as the lines of an export, letter by letter as PostgreSQL writes the others.

A column at a time: a value at a time takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trackers.tweets.models import METRICS

if TYPE_CHECKING:
    import pyarrow

_WHOLE = ("measurements", *METRICS)


class Key(NamedTuple):
    tweet_id: int
    taken_at: str


def lines_of(tweet_id: int, tables: Sequence[pyarrow.Table], *, as_csv: bool) -> dict[str, str]:
    """The line of each of the tweet's samples, without its end, by its time as it is written."""
    import pyarrow
    from pyarrow import compute

    all_rows = pyarrow.concat_tables(tables)
    table = all_rows.filter(compute.equal(all_rows.column("id"), tweet_id))
    begin, until = _times(table)
    figures = [_as_text(table.column(name)) for name in _WHOLE]
    join = compute.binary_join_element_wise
    if as_csv:
        known = [compute.fill_null(one, "") for one in figures]
        lines = join(str(tweet_id), begin, until, *known, ",")
    else:
        parts = [f'{{"tweet_id":"{tweet_id}","taken_at":"', begin]
        parts += ['","measured_until":"', until, '"']
        for name, one in zip(_WHOLE, figures, strict=True):
            parts += [f',"{name}":', compute.fill_null(one, "null")]
        lines = join(*parts, "}", "")
    return dict(zip(begin.to_pylist(), lines.to_pylist(), strict=True))


def key_of(line: str, *, as_csv: bool) -> Key:
    """Of a line of an export."""
    if as_csv:
        id, taken_at, _ = line.split(",", 2)
    else:
        _, _, _, id, _, _, _, taken_at, _ = line.split('"', 8)
    return Key(int(id), taken_at)


def _as_text(column: Any) -> Any:
    import pyarrow

    return column.combine_chunks().cast(pyarrow.string())


def _times(table: pyarrow.Table) -> tuple[Any, Any]:
    """From when and until when, as `iso_text`."""
    import pyarrow
    from pyarrow import compute

    taken_us = table.column("taken_at").combine_chunks().cast(pyarrow.int64())
    until_us = compute.add(taken_us, table.column("lasted_us").combine_chunks())
    begin, until = (_as_iso(one) for one in (taken_us, until_us))
    return begin, until


def _as_iso(microseconds: Any) -> Any:
    """strftime takes ten times as long."""
    import pyarrow
    from pyarrow import compute

    # "2026-01-31 23:59:59.000001"
    text = microseconds.cast(pyarrow.timestamp("us")).cast(pyarrow.string())
    spelt = compute.binary_replace_slice(text, start=10, stop=11, replacement="T")
    return compute.binary_join_element_wise(spelt, "Z", "")
