"""JSON that is spread over many lines: a tweet archive's `tweets.js`, or one large array.

Its values are read one by one from a buffer that holds little more than one of them. A damaged
value is reported, and reading resumes where the next one seems to begin.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from trackers.ingest.files.objects import found_in, not_json
from trackers.ingest.found_tweets import MAX_QUOTED_LENGTH, FoundTweet, Numbered, Options, Rejected

# Between values: `window.YTD.tweets.part0 = [`, commas, ends of arrays.
_BETWEEN = re.compile(r"(?:[\s,;\[\]]|(?:var\s+|let\s+|const\s+)?[A-Za-z_$][\w.$]*\s*=)*")
# The same inside an object that is longer than a value may be: its other members are passed over.
_BETWEEN_MEMBERS = re.compile(r'(?:[\s,;\[\]}]|"[^"\\\n]{1,60}"\s*:)*')
# Such an object begins so: {"meta": …, "data": [. What stands before the list is lost.
_LONG_LIST = re.compile(
    r'\{(?:[^\[{]|\{[^{}]*\}){0,2000}?"(?:data|statuses|results|tweets|posts|items)"\s*:\s*\['
)
# Where a value of the outermost array begins, as archives and pretty printers lay it out, or a
# line does.
_NEXT = re.compile(
    r"^\},? *(?=\{)|^(?P<indent> {1,4}|\t)\},\n(?P=indent)(?=\{)|\},\s*(?=\{\s*\"tweet\"\s*:)"
    r"|^(?=\{\")",
    re.MULTILINE,
)
# The least number of characters to feed at once.
_MIN_FEED_LENGTH = 1 << 16
# And the most: what is read of a long value is in memory as objects, ten times as large.
_MOST_FEED_LENGTH = 2 << 20
# Of a value that is longer than this, the end is looked for before it is read: each try would make
# objects of all that is there.
_LONG = 1 << 20
# A longer value is damaged: it never ends.
_MAX_VALUE_LENGTH = 16 << 20
# The next bracket outside of strings; or where the end of the buffer is, or cuts a string.
_BRACKET = re.compile(r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{}"]|\Z)', re.DOTALL)
_OPENS_OR_CLOSES = {"[": 1, "{": 1, "]": -1, "}": -1}
# An error this near to the end of the buffer may only be due to the cut.
_END_MARGIN = 64


def read_jsonl(lines: Numbered, options: Options) -> Iterator[FoundTweet | Rejected]:
    """A value a line; also several, and lines of an array, as mongoexport writes it."""
    for number, line in lines:
        try:
            value = _value_of(line)
        except (ValueError, RecursionError) as fault:
            quote, values = line[:MAX_QUOTED_LENGTH], _several_in(number, line)
            if values is None:
                yield Rejected(number, quote, not_json(fault, line))
            for each in values or ():
                yield from found_in(each, options, number=number, text=quote)
            continue
        yield from found_in(value, options, number=number, text=line[:MAX_QUOTED_LENGTH])


def _several_in(number: int, line: str) -> Iterable[Any] | None:
    """The objects and arrays of a line that is not one of them; None: there is anything else in it.
    Those of a long line are read twice, and never all in memory."""

    def values() -> Iterator[Any]:
        for each in Values(iter([(number, line)])):
            yield each.value if isinstance(each, Value) else None

    if len(line) > _LONG:
        return values() if all(isinstance(value, dict | list) for value in values()) else None
    kept = list(values())
    return kept if kept and all(isinstance(value, dict | list) for value in kept) else None


def _value_of(line: str) -> Any:
    if len(line) > _LONG and _depth_of(line)[1]:
        # A piece of a longer line.
        raise json.JSONDecodeError("Never ends", line[:MAX_QUOTED_LENGTH], 0)
    try:
        return orjson.loads(line)
    except ValueError:
        # orjson refuses lone surrogates, which X makes by cutting texts; json does not.
        return json.loads(line)


def _depth_of(text: str, scanned: int = 0, depth: int = 0) -> tuple[int, int]:
    """How many brackets of the value at the beginning are open at the end of the text; 0: it has
    ended. And how far that was scanned, from where a longer text is."""
    for match in _BRACKET.finditer(text, scanned):
        if (bracket := match[1]) not in _OPENS_OR_CLOSES:
            break
        scanned = match.end()
        depth = max(0, depth + _OPENS_OR_CLOSES[bracket])
        if not depth:
            break
    return scanned, depth


def read_json(lines: Numbered, options: Options) -> Iterator[FoundTweet | Rejected]:
    for value in Values(lines):
        if isinstance(value, Rejected):
            yield value
        else:
            yield from found_in(value.value, options, number=value.line, text=value.text)


def _in_slices(lines: Numbered) -> Numbered:
    """Pieces of a long line are megabytes: no more of one than is needed is copied."""
    for number, line in lines:
        for at in range(0, len(line), _MIN_FEED_LENGTH):
            yield number, line[at : at + _MIN_FEED_LENGTH]


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and where it begins."""

    line: int
    text: str
    value: Any


class Values:
    """The values of a document one by one, with what is rejected between them."""

    def __init__(self, lines: Numbered) -> None:
        self._lines, self._text, self._at, self._over = _in_slices(lines), "", 0, False
        # Where each line in the buffer begins, and its number.
        self._starts: list[int] = []
        self._numbers: list[int] = []
        self._last = 0
        # Inside an object that was too long for one value.
        self._between = _BETWEEN

    def __iter__(self) -> Iterator[Value | Rejected]:
        decoder = json.JSONDecoder()
        while self._go_to_next():
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as fault:
                if self._may_go_on(fault) and self._feed_to_its_end():
                    continue
                if self._went_into(fault):
                    continue
                yield Rejected(self._number(), self._quote(), not_json(fault))
                self._skip()
                continue
            if end >= len(self._text) and not self._over and not isinstance(value, dict | list):
                # More digits of the number may follow.
                self._feed()
                continue
            if not self._is_member():
                yield Value(self._number(), self._quote(), value)
            self._at = end

    def _go_to_next(self) -> bool:
        """Move to the next value; False when there is none."""
        while True:
            between = self._between.match(self._text, self._at)
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

    def _feed_to_its_end(self) -> bool:
        """Read more of an incomplete value, and of a long one until its end has come; False: it is
        too long, or cut off."""
        self._feed()
        scanned, depth = 0, 0
        while len(self._text) > _LONG:
            scanned, depth = _depth_of(self._text, scanned, depth)
            if not depth:
                return True
            if self._over or len(self._text) > _MAX_VALUE_LENGTH:
                return False
            self._feed()
        return True

    def _went_into(self, fault: Exception) -> bool:
        """Whether a long object is gone into, to read its list one by one."""
        is_long = len(self._text) - self._at > _MAX_VALUE_LENGTH
        if not (is_long or self._over) or not isinstance(fault, ValueError):
            return False
        begins = _LONG_LIST.match(self._text, self._at)
        if begins is None:
            return False
        self._at, self._between = begins.end(), _BETWEEN_MEMBERS
        return True

    def _is_member(self) -> bool:
        """Whether a value stands beside the list that was gone into, as `meta` does."""
        before = self._text[max(0, self._at - _END_MARGIN) : self._at].rstrip()
        return self._between is _BETWEEN_MEMBERS and before.endswith(":")

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
        """Read as much as is there already, so a long value is rarely parsed again; at most so much
        more that little beyond it is in memory."""
        before, self._text = self._text[self._at :], ""
        gone = max(0, bisect_right(self._starts, self._at) - 1)
        self._starts = [start - self._at for start in self._starts[gone:]]
        self._numbers = self._numbers[gone:]
        self._at, length, pieces = 0, len(before), [before]
        enough = max(min(2 * len(before), len(before) + _MOST_FEED_LENGTH), _MIN_FEED_LENGTH)
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
