"""What all drawn charts have in common: colours, the frame with its heading, and words that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

MIN_WIDTH, WIDTH, MAX_WIDTH = 320, 960, 1600
# Those of app.css; a test compares them.
COLOURS = {
    "light": {
        "card": "#ffffff", "grid": "#e8edf4", "soft": "#576579", "strong": "#131a24",
        "views": "#1d5fe0", "likes": "#c5284f", "retweets": "#0b7a4b", "replies": "#8045c9",
        "quotes": "#a85b00", "bookmarks": "#0a7488",
    },
    "dark": {
        "card": "#161d28", "grid": "#222c3b", "soft": "#9aa9be", "strong": "#eef3fa",
        "views": "#78a9ff", "likes": "#ff7f9f", "retweets": "#5fd39b", "replies": "#c4a0ff",
        "quotes": "#ffb35c", "bookmarks": "#5cd0e4",
    },
}  # fmt: skip
# A row of words, in pixels.
ROW = 20
# A letter's width, as a share of its height: nothing here measures a font.
LETTER = 0.56
_FONT = "system-ui, sans-serif"
# XML allows none of these, not even escaped; names and notes may have them.
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def frame(
    title: str, about: str, drawn: Iterable[str], *, width: int, height: int, follows_scheme: bool
) -> str:
    """The whole picture. `follows_scheme`: dark where the reader's system is."""
    name, description = escaped(title), escaped(about)
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" role="img" aria-label="{name}"'
            f' font-family="{_FONT}" font-size="12">',
            f"<title>{name}</title><desc>{description}</desc>",
            _dark_style() if follows_scheme else "",
            f'<rect class="card" width="{width}" height="{height}"'
            f' fill="{COLOURS["light"]["card"]}"/>',
            *drawn,
            "</svg>",
        ]
    )


def heading(title: str, source: str, *, width: int) -> list[str]:
    """A row for each that is not empty."""
    colours = COLOURS["light"]
    written = [(title, "strong", 15), (source, "soft", 12)]
    return [
        f'<text class="{name}" x="14" y="{24 + ROW * row}" font-size="{size}"'
        f' fill="{colours[name]}">'
        f"{escaped(shorten(words, (width - 28) * 12 / size))}</text>"
        for row, (words, name, size) in enumerate(pair for pair in written if pair[0])
    ]


def shorten(words: str, width: float) -> str:
    most = int(width / (12 * LETTER))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def escaped(words: str) -> str:
    return escape(_NOT_IN_XML.sub("", words))


def _dark_style() -> str:
    rules = "".join(
        f".{name}{{fill:{colour}}}.{name}-line{{stroke:{colour}}}"
        for name, colour in COLOURS["dark"].items()
    )
    return f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"
