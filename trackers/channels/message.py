"""What a channel says: some lines, how many follow, and where to read on. Pure.

Text is fitted to what a service takes by leaving out lines, which are then counted, so that a
message is never cut in the middle of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape as escape_html
from itertools import chain, zip_longest

# The most lines of a message, and what is kept of a long one.
LINES_MOST = 10
_MOST_TITLE, _MOST_WHAT = 120, 400


@dataclass(frozen=True, slots=True)
class Line:
    what: str  # a sentence
    url: str  # where one sees it
    rule: str = ""  # whose finding it is; empty: what tweetwatch checks by itself
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    title: str
    lines: tuple[Line, ...]
    more: int  # how many follow
    log: str  # where all are
    mute: str = ""  # where it can be muted; may be empty


def joined(messages: Sequence[Message]) -> Message:
    """One message in place of several: of each its first line, then of each its second …, so that
    no rule hides another."""
    if len(messages) == 1:
        [one] = messages
        return replace(
            one, lines=one.lines[:LINES_MOST], more=one.more + max(0, len(one.lines) - LINES_MOST)
        )
    in_turn = zip_longest(*(one.lines for one in messages))
    lines = [line for line in chain.from_iterable(in_turn) if line is not None]
    count = len(lines) + sum(one.more for one in messages)
    return Message(
        title=f"{count:,} alerts",
        lines=tuple(lines[:LINES_MOST]),
        more=count - len(lines[:LINES_MOST]),
        log=messages[-1].log,
        mute=messages[-1].mute,
    )


def one_line(text: str, most: int) -> str:
    """Without line breaks and control characters, and not longer than this."""
    plain = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class Markup:
    """How a service writes what is bold, and a link. `bold` and `link` are formats."""

    escape: Callable[[str], str]
    bold: str = "{text}"
    link: str = "{text}\n{url}"
    bullet: str = "• "
    line_break: str = "\n"

    def written(self, message: Message) -> str:
        rules = {line.rule for line in message.lines}
        parts = [self._bold(one_line(message.title, _MOST_TITLE))]
        parts += [self._line(line, says_rule=len(rules) > 1) for line in message.lines]
        if message.more:
            parts.append(self._linked(f"And {message.more:,} more", message.log))
        if message.mute:
            parts.append(self._linked("Mute", message.mute))
        return self.line_break.join(parts)

    def _line(self, line: Line, *, says_rule: bool) -> str:
        over = "Over: " if line.is_over else ""
        rule = f"{self._bold(line.rule)}: " if says_rule and line.rule else ""
        what = self._linked(f"{over}{one_line(line.what, _MOST_WHAT)}", line.url)
        return f"{self.bullet}{rule}{what}"

    def _bold(self, text: str) -> str:
        return self.bold.format(text=self.escape(one_line(text, _MOST_TITLE)))

    def _linked(self, text: str, url: str) -> str:
        return self.link.format(text=self.escape(text), url=self._address(url))

    def _address(self, url: str) -> str:
        return escape_html(url) if self.escape is escape_html else url


def fitted(
    message: Message, write: Callable[[Message], str], *, most: int, size: Callable[[str], int]
) -> str:
    """The text of the message with as many lines as fit."""
    for shown in range(len(message.lines), 0, -1):
        fewer = replace(
            message,
            lines=message.lines[:shown],
            more=message.more + len(message.lines) - shown,
        )
        if size(text := write(fewer)) <= most:
            return text
    # Only where one line is longer than all that the service takes.
    [first, *_] = message.lines
    short = replace(first, what=one_line(first.what, 100), rule="")
    return write(replace(message, lines=(short,), more=message.more + len(message.lines) - 1))


def utf16(text: str) -> int:
    """The length as Discord and Telegram count it."""
    return len(text.encode("utf-16-le")) // 2


def utf8(text: str) -> int:
    return len(text.encode())


def backslashed(special: Iterable[str]) -> Callable[[str], str]:
    """Escapes each of these by a backslash, as Markdown does."""
    table = str.maketrans({one: f"\\{one}" for one in special})
    return lambda text: text.translate(table)
