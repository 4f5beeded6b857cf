"""Counts in the rows of a table, where a person named the column that says when they were measured.

Without that column no count is taken: its time is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trackers.ingest.files.object_ids import time_of
from trackers.ingest.files.table import Row, column_name
from trackers.ingest.found_tweets import MAX_QUOTED_LENGTH, FoundTweet, UnreadableError
from trackers.xapi.results import Figures, Post

_WORDS = {
    "retweets": r"retweets?|reposts?", "replies": r"repl(?:y|ies)", "likes": r"likes?|favou?rites?",
    "quotes": r"quotes?|quote_tweets?", "bookmarks": r"bookmarks?", "views": r"views?|impressions?",
}  # fmt: skip
_COUNT_COLUMNS = {
    metric: re.compile(rf"(?:public_metrics[._])?(?:{words})(?:[._]?counts?)?")
    for metric, words in _WORDS.items()
}
# 12.0, as programs write a column in which some are empty; 1,234 as people do.
_COUNT_CELL = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})(?:\.0+)?")
_MOST_COUNTED, _MOST_VIEWS = 2**31 - 1, 2**53


@dataclass(frozen=True, slots=True)
class DatedCounts:
    """The column of the time, and those of the counts in the order of `Figures`; None: there is
    none."""

    time: int
    counts: tuple[int | None, ...]

    def with_counts(self, tweet: FoundTweet, row: Row) -> FoundTweet:
        """The tweet of a row, measured when the row says; with a warning if it does not."""
        by_metric = zip(self.counts, Figures._fields, strict=True)
        counts = [_count_in(row.cells, place, metric) for place, metric in by_metric]
        if not any(count is not None for count in counts):
            return tweet
        when = row.cells[self.time].strip() if self.time < len(row.cells) else ""
        at = time_of(when)
        if at is None:
            why = f"its counts are left out, since “{when[:40]}” is no time"
            text = row.text[:MAX_QUOTED_LENGTH]
            return replace(tweet, line=row.number, text=text, odd=why)
        post = Post(tweet.id, None, None, None, "", (), Figures(*counts))
        return replace(tweet, post=post, retrieved_at=at)


def dated_counts(names: Sequence[str], measured_at: str) -> DatedCounts:
    """Where they are, by the names of all columns. UnreadableError: there is no such column."""
    found = [column_name(name) for name in names]
    wanted = column_name(measured_at)
    if wanted in found:
        time = found.index(wanted)
    elif wanted.isascii() and wanted.isdigit() and 0 < int(wanted[:5]) <= len(found):
        time = int(wanted) - 1
    else:
        raise UnreadableError(
            f"There is no column {measured_at} that says when the counts were measured. "
            f"The columns are: {', '.join(names)[:300]}"
        )
    counts = tuple(
        next((n for n, name in enumerate(found) if pattern.fullmatch(name)), None)
        for pattern in (_COUNT_COLUMNS[metric] for metric in Figures._fields)
    )
    return DatedCounts(time, counts)


def _count_in(cells: Sequence[str], place: int | None, metric: str) -> int | None:
    if place is None or place >= len(cells):
        return None
    match = _COUNT_CELL.fullmatch(cells[place].strip())
    count = int(match[1].replace(",", "")) if match else None
    most = _MOST_VIEWS if metric == "views" else _MOST_COUNTED
    return count if count is not None and count <= most else None
