"""A digest as text for channels: some lines for each of its parts, without pictures. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

# Of a line, as a channel keeps of one; and how many a part has at most.
_LINE_MOST, _LINES_OF_A_PART = 380, 2
_SENTENCE_BREAK = " · "


def message_lines(parts: Iterable[tuple[str, Iterable[str], str]]) -> list[dict[str, Any]]:
    """Lines of a ChannelMessage; of each part: title, sentences, path of its page."""
    return [
        {"what": text, "url": path, "rule": title, "is_over": False}
        for title, sentences, path in parts
        for text in list(_joined_lines(sentences))[:_LINES_OF_A_PART]
    ]


def _joined_lines(sentences: Iterable[str]) -> Iterator[str]:
    """As many sentences in a line as it takes."""
    line = ""
    for sentence in sentences:
        longer = f"{line}{_SENTENCE_BREAK}{sentence}" if line else sentence
        if line and len(longer) > _LINE_MOST:
            yield line
            longer = sentence
        line = longer
    if line:
        yield line
