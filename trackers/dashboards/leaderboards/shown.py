"""A leaderboard's rows in words, and as a table for files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from trackers.charts.scales import shortened
from trackers.dashboards.charts.small import by_minute
from trackers.dashboards.figures import figure_html
from trackers.dashboards.set_links import set_of
from trackers.dashboards.words import commas, to_the_minute_html
from trackers.notes.models import Note
from trackers.notes.things import names_of
from trackers.sets.leaderboards.asked import Listing
from trackers.sets.leaderboards.count import RANKED, SetRow
from trackers.sets.leaderboards.rank import change_of
from trackers.tweets.labels import LABELS
from tweetwatch import notation
from tweetwatch.tables import Column, Table

AGE_LABELS = {"1h": "1 h", "24h": "24 h", "7d": "7 d"}
_DASH, _MINUS = "–", "−"


@dataclass(frozen=True, slots=True)
class ShownRow:
    place: int
    name: str
    address: str
    posts: str
    total: SafeString
    change: str  # with its sign; a dash where nothing can be compared
    mood: str  # "up", "down" or empty
    before: str
    median: str
    rate: str
    above: str
    spark: SafeString


def shown_rows(kind: str, rows: Sequence[SetRow], metric: str) -> list[ShownRow]:
    names = _names(kind, rows)
    # What is gone has no name any more, and no page.
    listed = [row for row in rows if row.key in names]
    return [
        _row_in_words(place, kind, names[row.key], row, metric)
        for place, row in enumerate(listed, start=1)
    ]


def _names(kind: str, rows: Sequence[SetRow]) -> dict[str, str]:
    named = names_of(Note(kind=kind, key=row.key) for row in rows)
    return {key: name for (_, key), name in named.items()}


def _row_in_words(place: int, kind: str, name: str, row: SetRow, metric: str) -> ShownRow:
    total, label = row.totals[metric], LABELS[metric].lower()
    change, mood = _change(row, metric)
    steps = row.steps[metric]
    half = len(steps) // 2
    before, now = commas(sum(steps[:half])), commas(sum(steps[half:]))
    return ShownRow(
        place=place,
        name=name,
        address=set_of(kind, row.key),
        posts=commas(row.posts),
        total=figure_html(f"board.{kind}.{row.key}", _short(total), commas(total or 0)),
        change=change,
        mood=mood,
        before=_short(row.before[metric]),
        median=_short(row.medians[metric]),
        rate=_percent(row.rate, 1),
        above=_percent(row.above, 0),
        spark=by_minute(steps, f"{before} {label} of the period before, {now} of this one").html,
    )


def _change(row: SetRow, metric: str) -> tuple[str, str]:
    share = change_of(row, metric)
    if share is None:
        return _DASH, ""
    rounded = round(100 * share)
    if not rounded:
        return "as before", ""
    return f"{'+' if rounded > 0 else _MINUS}{abs(rounded):,} %", "up" if rounded > 0 else "down"


def _short(number: float | None) -> str:
    return _DASH if number is None else shortened(number)


def _percent(share: float | None, digits: int) -> str:
    return _DASH if share is None else f"{100 * share:.{digits}f} %"


def said_of(listing: Listing) -> SafeString:
    """Of which posts the figures are."""
    this, before = (
        f"{to_the_minute_html(span.since)} to {to_the_minute_html(span.until)}"
        for span in (listing.spans.this, listing.spans.before)
    )
    sentence = (
        f"Posts of {this} against {before}, each at the age of {AGE_LABELS[listing.spans.age]}; "
        "posts that are younger are counted, and their figures wait."
    )
    if listing.is_made_hourly:
        sentence += f" As of {notation.clock(listing.spans.this.until)}; made each hour."
    if listing.as_of:
        sentence += f" As of {notation.clock(listing.as_of)}; it is kept for an hour."
    if listing.newest_since:
        since = to_the_minute_html(listing.newest_since)
        sentence += f" The view has more: these are its newest, from {since} on."
    return SafeString(sentence)


def board_table(kind: str, rows: Sequence[SetRow]) -> Table:
    names = _names(kind, rows)
    columns = [
        Column("place", "whole"), Column(kind, "text"), Column("name", "text"),
        Column("posts", "whole"), Column("posts_before", "whole"), Column("old_enough", "whole"),
        Column("measured", "whole"),
        *(
            Column(f"{metric}{what}", "number" if what == "_median" else "whole")
            for metric in RANKED for what in ("", "_before", "_median")
        ),
        Column("engagement_rate", "number"), Column("scored", "whole"), Column("above_2", "number"),
    ]  # fmt: skip

    def lines() -> Iterator[list[object]]:
        for place, row in enumerate((row for row in rows if row.key in names), start=1):
            yield [
                place, row.key, names[row.key], row.posts, row.posts_before, row.old, row.measured,
                *(
                    value
                    for metric in RANKED
                    for value in (row.totals[metric], row.before[metric], row.medians[metric])
                ),
                row.rate, row.scored, row.above,
            ]  # fmt: skip

    return Table(f"leaderboard-{kind}", columns, lines())
