"""Texts of posts as HTML: X's links lead where X wants them to."""

from __future__ import annotations

from html import escape

from django.utils.safestring import SafeString

from trackers.tweets.displayed import Piece, StoredLinks, pieces_of


def linked_text(text: str, links: StoredLinks) -> SafeString:
    """The whole text."""
    return SafeString(
        "".join(
            _link(piece) if piece.url else escape(piece.text) for piece in pieces_of(text, links)
        )
    )


def text_and_links(text: str, links: StoredLinks) -> tuple[str, SafeString]:
    """For a text that is a link itself: its words, without the links at its end, and all links."""
    pieces = list(pieces_of(text, links))
    leading = [_link(piece) for piece in dict.fromkeys(pieces) if piece.url]
    while pieces and (pieces[-1].url or not pieces[-1].text.strip()):
        pieces.pop()
    words = "".join(piece.text for piece in pieces).rstrip()
    if not leading or not words:
        return "".join(piece.text for piece in pieces_of(text, links)), _line(leading)
    return words, _line(leading)


def _line(links: list[str]) -> SafeString:
    return SafeString(f'<p class="post-links" dir="auto">{" ".join(links)}</p>' if links else "")


def _link(piece: Piece) -> str:
    return (
        f'<a href="{escape(piece.url)}" rel="noreferrer noopener nofollow" target="_blank">'
        f"{escape(piece.text)}</a>"
    )
