"""Durations and shares as people write them: 60s, 18m, 1h30m, 7d, H:MM:SS; 5%. One parser.

`spell` is for fields and cells, `spoken` and `often` are for sentences.
"""

from __future__ import annotations

import re
from datetime import timedelta

from django.utils.dateparse import parse_duration

_UNIT_SECONDS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_SPELLED = re.compile(r"(\d+(?:\.\d+)?)\s*(w|d|h|min|m|sec|s)", re.IGNORECASE)
_WHOLE = re.compile(rf"(?:{_SPELLED.pattern}\s*)+", re.IGNORECASE)


def parse(text: str) -> timedelta:
    """Raises ValueError, with a sentence for people, when the text is not a duration."""
    text = text.strip()
    try:
        if _WHOLE.fullmatch(text):
            parts = _SPELLED.findall(text)
            return timedelta(
                seconds=sum(
                    float(number) * _UNIT_SECONDS[unit[0].lower()] for number, unit in parts
                )
            )
        duration = parse_duration(text) if ":" in text else None
    except (OverflowError, ValueError):
        duration = None
    if duration is None:
        raise ValueError(
            f"“{text[:40]}” is not a duration. Write it as 60s, 18m, 1h, 7d or 1:30:00."
        )
    return duration


def spell(length: timedelta) -> str:
    """The shortest form that `parse` reads back as the same duration: 18m, 90s, 1h, 7d."""
    if length % timedelta(seconds=1):
        return f"{length.total_seconds():.6f}".rstrip("0") + "s"
    seconds = round(length.total_seconds())
    # A minute stays in seconds (60s), like the defaults.
    if 0 <= seconds <= 60:
        return f"{seconds}s"
    for unit in ("d", "h", "m"):
        if seconds % _UNIT_SECONDS[unit] == 0:
            return f"{seconds // _UNIT_SECONDS[unit]}{unit}"
    return f"{seconds}s"


_NAMES = {"d": "day", "h": "hour", "m": "minute", "s": "second"}


def spoken(length: timedelta) -> str:
    """As a sentence has it, exactly: 5 minutes, 90 seconds, 12 minutes 34 seconds, 1 day."""
    number, unit = spell(length)[:-1], spell(length)[-1]
    if length == timedelta(minutes=1):
        number, unit = "1", "m"
    minutes, rest = divmod(length, timedelta(minutes=1))
    if unit == "s" and minutes > 1:
        return f"{spoken(timedelta(minutes=minutes))} {spoken(rest)}"
    return f"{number} {_NAMES[unit]}{'' if number == '1' else 's'}"


def spoken_after_every(every: timedelta) -> str:
    """To follow "every": minute, 5 minutes, 90 seconds, day."""
    return spoken(every).removeprefix("1 ")


_SHARE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*%?")


def percentage(text: str) -> float:
    """5% or 5 as 0.05. Raises ValueError, with a sentence for people, for anything else."""
    match = _SHARE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"“{text.strip()[:40]}” is not a percentage. Write it as 5%.")
    return float(match[1]) / 100


def spell_share(share: float) -> str:
    """The share in the form that `percentage` reads: 5%."""
    return f"{100 * share:.6f}".rstrip("0").rstrip(".") + "%"
