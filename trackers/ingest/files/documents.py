"""JSON that is spread over many lines: a tweet archive's `tweets.js`, or one large array.

Its values are read one by one from a buffer that holds little more than one of them. A damaged
value is reported, and reading resumes where the next one seems to begin.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trackers.ingest.files.objects import found_in, not_json
from trackers.ingest.found_tweets import MAX_QUOTED_LENGTH, FoundTweet, Numbered, Options, Rejected

# Between values: `window.YTD.tweets.part0 = [`, commas, ends of arrays.
_BETWEEN = re.compile(r"(?:[\s,;\[\]]|window\.[\w.$]*\s*=)*")
# Where a value of the outermost array begins, as archives and pretty printers lay it out.
_NEXT = re.compile(
    r"^\},? *(?=\{)|^(?P<indent> {1,4}|\t)\},\n(?P=indent)(?=\{)|\},\s*(?=\{\s*\"tweet\"\s*:)",
    re.MULTILINE,
)
# The least number of characters to feed at once.
_MIN_FEED_LENGTH = 1 << 16
# A longer value is damaged: it never ends.
_MAX_VALUE_LENGTH = 16 << 20
# An error this near to the end of the buffer may only be due to the cut.
_END_MARGIN = 64


def read_json(lines: Numbered, options: Options) -> Iterator[FoundTweet | Rejected]:
    for value in Values(lines):
        if isinstance(value, Rejected):
            yield value
        else:
            yield from found_in(value.value, options, number=value.line, text=value.text)


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and where it begins."""

    line: int
    text: str
    value: Any


class Values:
    """The values of a document one by one, with what is rejected between them."""

    def __init__(self, lines: Numbered) -> None:
        self._lines, self._text, self._at, self._over = lines, "", 0, False
        # Where each line in the buffer begins, and its number.
        self._starts: list[int] = []
        self._numbers: list[int] = []
        self._last = 0

    def __iter__(self) -> Iterator[Value | Rejected]:
        decoder = json.JSONDecoder()
        while self._go_to_next():
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as fault:
                if self._may_go_on(fault):
                    self._feed()
                    continue
                yield Rejected(self._number(), self._quote(), not_json(fault))
                self._skip()
                continue
            if end >= len(self._text) and not self._over and not isinstance(value, dict | list):
                # More digits of the number may follow.
                self._feed()
                continue
            yield Value(self._number(), self._quote(), value)
            self._at = end

    def _go_to_next(self) -> bool:
        """Move to the next value; False when there is none."""
        while True:
            between = _BETWEEN.match(self._text, self._at)
            self._at = between.end() if between else self._at
            if self._over:
                return self._at < len(self._text)
            # Not this near to the end, where `window.` may be cut off.
            if len(self._text) - self._at > _END_MARGIN:
                return True
            self._feed()

    def _may_go_on(self, fault: Exception) -> bool:
        """Whether the value may just be incomplete."""
        if self._over or len(self._text) - self._at > _MAX_VALUE_LENGTH:
            return False
        if not isinstance(fault, json.JSONDecodeError):
            return False
        return "Unterminated" in fault.msg or fault.pos > len(self._text) - _END_MARGIN

    def _skip(self) -> None:
        """Move to where the next value seems to begin, or to the end."""
        self._at += 1
        while not (match := _NEXT.search(self._text, self._at)):
            if self._over:
                self._at = len(self._text)
                return
            # The buffer may end within what the pattern needs.
            self._at = max(self._at, len(self._text) - _END_MARGIN)
            self._feed()
        self._at = match.end()

    def _feed(self) -> None:
        """Read at least as much as is there already, so a long value is rarely parsed again."""
        before, self._text = self._text[self._at :], ""
        gone = max(0, bisect_right(self._starts, self._at) - 1)
        self._starts = [start - self._at for start in self._starts[gone:]]
        self._numbers = self._numbers[gone:]
        self._at, length, pieces = 0, len(before), [before]
        enough = max(2 * len(before), _MIN_FEED_LENGTH)
        for number, line in self._lines:
            # The pieces of one long line are joined without a newline.
            if number != self._last:
                pieces.append("\n")
                length += 1
            self._starts.append(length)
            self._numbers.append(number)
            self._last = number
            pieces.append(line)
            length += len(line)
            if length > enough:
                break
        else:
            self._over = True
        self._text = "".join(pieces)

    def _number(self) -> int:
        return self._numbers[bisect_right(self._starts, self._at) - 1]

    def _quote(self) -> str:
        return self._text[self._at : self._at + MAX_QUOTED_LENGTH]
