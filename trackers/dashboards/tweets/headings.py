"""The headings of the columns, which sort by them, and the orders of the select beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trackers.dashboards.tweet_rows import LABELS
from trackers.listing.query import TweetQuery
from trackers.tweets.movers.models import Window

_WINDOW_WORDS = {
    Window.QUARTER: "in 15 minutes",
    Window.HOUR: "in an hour",
    Window.DAY: "in 24 hours",
}


@dataclass(frozen=True, slots=True)
class Heading:
    label: str
    style: str
    # (words, address, direction) of what it sorts by; the direction is empty unless the page is
    # sorted by it. Without links it says `label`.
    links: tuple[tuple[str, str, Direction], ...] = ()

    @property
    def direction(self) -> Direction:
        return next((direction for *_, direction in self.links if direction), "")


Direction = Literal["", "ascending", "descending"]


def headings(asked: TweetQuery) -> list[Heading]:
    """Of the columns that are shown, after that of the tweet itself."""

    def link(words: str, by: str) -> tuple[str, str, Direction]:
        is_on = asked.sort.by == by and not asked.sort.window
        direction: Direction = ("ascending" if asked.sort.up else "descending") if is_on else ""
        return words, asked.sorted_by(by).address(), direction

    made = [Heading("Tweet", "", (link("Tweet, by author", "author"),))]
    if "tags" in asked.columns:
        made.append(Heading("Tags", "tags"))
    if "curve" in asked.columns:
        made.append(Heading("Lately", ""))
    if window := asked.sort.window:
        made.append(
            Heading(f"{LABELS[asked.sort.metric]} gained {_WINDOW_WORDS[window]}", "figure gain")
        )
    for metric, label in LABELS.items():
        if metric in asked.columns:
            made.append(Heading(label, f"figure {metric}", (link(label, metric),)))
    if "check" in asked.columns:
        checks = (link("Checked", "checked"), link("Next", "next"))
        made.append(Heading("Check", "when", checks))
    return made


def orders(asked: TweetQuery) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """Groups of (value, words, chosen)."""
    now = asked.sort.name

    def choice(value: str, words: str) -> tuple[str, str, bool]:
        return value, words, value == now

    totals = [choice(metric, f"Most {label.lower()}") for metric, label in LABELS.items()]
    by_tweet = [
        choice("", "Newest first"), *totals, choice("author", "Author"),
        choice("checked", "Checked last"), choice("next", "Next check"),
    ]  # fmt: skip
    return [
        ("All time", by_tweet),
        *(
            (
                f"{words} {within}",
                [
                    choice(f"{by}-{metric}-{window.value}", f"{label}: {words.lower()} {within}")
                    for metric, label in LABELS.items()
                ],
            )
            for by, words in (("velocity", "Fastest"), ("gain", "Largest gain"))
            for window, within in _WINDOW_WORDS.items()
        ),
    ]
