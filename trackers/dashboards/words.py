"""Numbers and times as people say them; the title has the exact value of rounded ones.

Templates have the same as filters: `{{ count|commas }}`, `{{ worker.seen_at|ago:now }}`. What
appears on a page by the hundred writes its own HTML: a template takes many times as long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import escape

from django.template import Library
from django.utils.safestring import SafeString

from tweetwatch import notation
from tweetwatch.amounts import amount
from tweetwatch.notation import day, exactly

register = Library()

_DURATION_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))
# Whatever is due waits a moment for others to share a request with. live.js has it too.
OVERDUE_AFTER = timedelta(seconds=30)
# From then on a date says more than a number of days.
_OLD, _MONTH = timedelta(days=61), timedelta(days=30.4375)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time; its title has it exactly, and in UTC."""

    at: datetime
    words: str  # shown only until the page's script runs; a date (`is_old`) stays
    is_old: bool = False
    is_past: bool = False  # never "in 1 s", although the clock of the page may be a second behind
    # Once it has passed, it is "now" and not "3 s ago", and later "due 40 s ago".
    is_ahead: bool = False

    @property
    def html(self) -> SafeString:
        at = self.at.astimezone(UTC).isoformat()
        exact, words = escape(notation.with_utc(self.at)), escape(self.words)
        relative = "" if self.is_old else " data-relative"
        relative += " data-past" if relative and self.is_past else ""
        relative = f" data-ahead{relative}" if self.is_ahead else relative
        # The title comes first: what follows is no part of a digest (`parts`).
        return SafeString(f'<time datetime="{at}" title="{exact}"{relative}>{words}</time>')


def _as_time(at: datetime, words: str) -> SafeString:
    """A time that is written out, which says in its title when it is in UTC."""
    moment = at.astimezone(UTC).isoformat()
    return SafeString(f'<time datetime="{moment}" title="{notation.in_utc(at)}">{words}</time>')


@register.filter("exactly")
def exactly_html(at: datetime) -> SafeString:
    return _as_time(at, exactly(at))


@register.filter("to_the_minute")
def to_the_minute_html(at: datetime) -> SafeString:
    return _as_time(at, notation.to_the_minute(at))


@register.filter("time_of_day")
def time_of_day_html(at: datetime) -> SafeString:
    return _as_time(at, notation.time_of_day(at))


@register.filter("day")
def day_html(at: datetime) -> SafeString:
    return _as_time(at, day(at))


@register.filter
def with_code(sentence: str) -> SafeString:
    """A sentence as HTML, with what stands between backticks as code."""
    return SafeString(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence)))


@register.filter
def commas(number: int | None) -> str:
    """A dash for what is not known."""
    return "–" if number is None else f"{number:,}"


def about(number: float, *, digits: int) -> str:
    """A number that is not exact: "about 36,500"."""
    whole = round(number)
    return f"about {round(whole, min(0, digits - len(str(abs(whole))))):,}"


@register.filter
def counted(number: int, noun: str) -> str:
    """`{{ events|counted:"event" }}`: 1 event; 2,000 events; `counted:"box,boxes"`."""
    return amount(number, *noun.split(","))


@register.filter
def signed(number: int) -> str:
    """With its sign, using a real minus; empty for zero."""
    return f"+{number:,}" if number > 0 else f"−{-number:,}" if number < 0 else ""


@register.filter
def lasting(length: timedelta) -> str:
    """A duration in its one or two largest units: 48 s, 12 min, 3 h 4 min, 2 d 5 h."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    for place, (size, unit) in enumerate(_DURATION_UNITS):
        if seconds >= size:
            words = f"{seconds // size} {unit}"
            rest = seconds % size
            if place + 1 < len(_DURATION_UNITS) and rest >= _DURATION_UNITS[place + 1][0]:
                words += f" {rest // _DURATION_UNITS[place + 1][0]} {_DURATION_UNITS[place + 1][1]}"
            return words
    raise AssertionError("every length has a unit")


def ago(at: datetime, *, now: datetime) -> Moment:
    if now - at >= _OLD:
        return Moment(at, f"{day(at)} ({_roughly(now - at)} ago)", is_old=True)
    words = "just now" if now - at < timedelta(seconds=1) else f"{lasting(now - at)} ago"
    return Moment(at, words, is_past=True)


def _roughly(length: timedelta) -> str:
    """Of months or years: 3 months, 20 years."""
    months = int(length / _MONTH)
    return f"{months} months" if months < 24 else f"{months // 12} years"


def ahead(at: datetime, *, now: datetime) -> Moment:
    words = f"in {lasting(at - now)}" if at > now else "now"
    return Moment(at, words, is_ahead=True)


def due(at: datetime, *, now: datetime) -> Moment:
    """As `ahead`, but what should have happened some time ago is not "now" any more."""
    if now - at < OVERDUE_AFTER:
        return ahead(at, now=now)
    return Moment(at, f"due {lasting(now - at)} ago", is_ahead=True)


@register.filter
def brief(seconds: float) -> str:
    """A duration as `lasting`, but 0.4 s is not nothing."""
    return f"{seconds:.1f} s" if 0 < seconds < 10 else lasting(timedelta(seconds=seconds))


@register.filter("bytes")
def format_bytes(number: float) -> str:
    """Bytes in the unit that leaves one to three digits before the point."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if abs(number) < 1024:
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:,.1f} {unit}"
        number /= 1024
    return f"{number:,.1f} TB"


@register.filter
def dollars(amount: Decimal) -> str:
    return f"${amount:,.2f}"


@register.filter("ago")
def ago_html(at: datetime | None, now: datetime) -> str:
    """Empty without a time."""
    return ago(at, now=now).html if at else ""


@register.filter("ahead")
def ahead_html(at: datetime | None, now: datetime) -> str:
    return ahead(at, now=now).html if at else ""


@register.filter
def fine_dollars(amount: Decimal) -> str:
    """To a hundredth of a cent below a dollar: a post costs half a cent."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}" if amount else "$0"
