"""How the list of tweets is ordered and narrowed without its form: by the columns' heads, a short
menu, and chips. Each leads to the same list, asked for otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from trackers.listing.query import AGE_FILTERS, NEWEST_FIRST, Sort, TweetQuery
from trackers.scores.models import SCORE_METRICS
from trackers.tweets.gains.models import Window
from trackers.tweets.labels import LABELS

# What the page opens on, where its address asks for nothing.
STANDS_OUT = Sort("score", SCORE_METRICS[0])
_WINDOW_WORDS = {
    Window.QUARTER: "in 15 minutes",
    Window.HOUR: "in an hour",
    Window.DAY: "in 24 hours",
}
_AGE_WORDS = {"1h": "last hour", "24h": "24 h", "7d": "7 d", "30d": "30 d"}
_OWN = "own"
_BY_WORDS = {"author": "author", "checked": "last check", "next": "next check"}
Direction = Literal["", "ascending", "descending"]


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


def has_score(asked: TweetQuery) -> bool:
    """An order by it shows it, too."""
    return "score" in asked.columns or asked.sort.by == "score"


def headings(asked: TweetQuery, *, is_sorted: bool) -> list[Heading]:
    """Of the columns that are shown, after that of the tweet itself."""

    def link(words: str, by: str) -> tuple[str, str, Direction]:
        is_on = is_sorted and asked.sort.by == by and not asked.sort.window
        direction: Direction = ("ascending" if asked.sort.up else "descending") if is_on else ""
        return words, asked.sorted_by(by).address(), direction

    made = [Heading("Tweet", "", (link("Tweet, by author", "author"),))]
    if "tags" in asked.columns:
        made.append(Heading("Tags", "tags"))
    if "curve" in asked.columns:
        made.append(Heading("Lately", ""))
    if has_score(asked):
        is_on = is_sorted and asked.sort.by == "score"
        metric = asked.sort.metric if is_on else SCORE_METRICS[0]
        there = asked if is_on else replace(asked, sort=Sort("score", metric))
        label = f"{LABELS[metric]} ÷ usual" if is_on else "Score"
        direction: Direction = "descending" if is_on else ""
        made.append(Heading(label, "figure of-score", ((label, there.address(), direction),)))
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


def orders(asked: TweetQuery) -> list[tuple[str, str, bool]]:
    """(value, words, chosen): those that no column's head has, and the one that is asked for."""
    metric = asked.sort.metric or SCORE_METRICS[0]
    choices = {
        **{
            Sort("score", of).name: f"Far above usual by {LABELS[of].lower()}"
            for of in SCORE_METRICS
        },
        NEWEST_FIRST.name: "Newest first",
        **{
            Sort(by, metric, window).name: f"{words} {within}"
            for by, words in (
                ("gain", f"Most {LABELS[metric].lower()} gained"),
                ("velocity", f"Fastest {LABELS[metric].lower()}"),
            )
            for window, within in _WINDOW_WORDS.items()
        },
    }
    now = asked.sort.name
    if now not in choices:
        choices[now] = f"By {(LABELS | _BY_WORDS)[asked.sort.by].lower()}"
    return [(value or "newest", words, value == now) for value, words in choices.items()]


@dataclass(frozen=True, slots=True)
class Chip:
    words: str
    address: str
    is_on: bool


@dataclass(frozen=True, slots=True)
class Chips:
    label: str
    chips: tuple[Chip, ...]


def chips(asked: TweetQuery) -> list[Chips]:
    return [Chips(label, tuple(made)) for label, made in _chips(asked) if made]


def _chips(asked: TweetQuery) -> Iterator[tuple[str, list[Chip]]]:
    is_custom = bool(asked.since or asked.until)
    always = replace(asked, age="", since=None, until=None)
    periods = [Chip("any time", always.address(), not asked.age and not is_custom)]
    periods += [
        Chip(words, replace(always, age=age).address(), asked.age == age)
        for age, words in _AGE_WORDS.items()
        if age in AGE_FILTERS
    ]
    yield "Posted", periods
    is_own = asked.kind == _OWN
    yield (
        "",
        [
            Chip(
                "without replies and quotes",
                replace(asked, kind="" if is_own else _OWN).address(),
                is_own,
            ),
            Chip(
                "compact",
                replace(asked, is_compact=not asked.is_compact).address(),
                asked.is_compact,
            ),
        ],
    )
    if window := asked.sort.window:
        by = asked.sort.by
        yield "Of", [
            Chip(label.lower(), replace(asked, sort=Sort(by, metric, window)).address(),
                 asked.sort.metric == metric)
            for metric, label in LABELS.items()
        ]  # fmt: skip
