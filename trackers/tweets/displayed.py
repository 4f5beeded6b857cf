"""A post's text as X displays it: its links by what X shows for them.

X's display requirements: a link in a text is shown as `display_url`, and leads to the t.co address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_OF_X = "https://t.co/"
_LAST_LINK = re.compile(r"\s*(https://t\.co/\w+)\s*\Z", re.ASCII)

StoredLinks = Sequence[Mapping[str, Any]] | None


class Piece(NamedTuple):
    """Of a text, in its order."""

    text: str
    url: str  # where it leads, of t.co; empty for words


def displayed(text: str, links: StoredLinks) -> str:
    """The whole in words."""
    return "".join(piece.text for piece in pieces_of(text, links))


def pieces_of(text: str, links: StoredLinks) -> Iterator[Piece]:
    """Without the links to the post's own media at its end, which X leaves out.

    X sends texts with three characters as HTML has them, and so do its archives.
    """
    known = {link["url"]: link for link in links or () if link["url"].startswith(_OF_X)}
    while (match := _LAST_LINK.search(text)) and known.get(match[1], {}).get("of_media"):
        text = text[: match.start()]
    if not known:
        yield Piece(_unescaped(text), "")
        return
    longest_first = sorted(map(re.escape, known), key=len, reverse=True)
    for part in re.split(rf"({'|'.join(longest_first)})(?!\w)", text, flags=re.ASCII):
        if part in known:
            yield Piece(known[part]["display"] or part, part)
        elif part:
            yield Piece(_unescaped(part), "")


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
