"""JSON as X writes it: raw UTF-8 with escaped astral characters in v2, all escaped in v1.1."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_DAY_S = 86_400
_MINUTES = [f"{minute // 60:02}:{minute % 60:02}" for minute in range(1440)]


@lru_cache(maxsize=8192)
def v2_string(text: str) -> str:
    """A JSON string literal of `text`, its UTF-8 bytes held in a Latin-1 str (see tweets_v2)."""
    plain = json.dumps(text, ensure_ascii=False)
    if plain.isascii():
        return plain
    escaped = _ASTRAL.sub(lambda found: json.dumps(found[0])[1:-1], plain)
    return escaped.encode().decode("latin-1")


def v2_time(at_ms: int) -> str:
    """Whole seconds with `.000Z`, as X sends."""
    day, second = divmod(at_ms // 1000, _DAY_S)
    minute, second = divmod(second, 60)
    return f"{_date(day)}T{_MINUTES[minute]}:{second:02}.000Z"


def v1_time(at_ms: int) -> str:
    """`Sat Jul 13 02:26:37 +0000 2019`."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%a %b %d %H:%M:%S +0000 %Y")


def v1_dump(body: Any) -> bytes:
    return json.dumps(body, separators=(",", ":")).replace("/", r"\/").encode()


@lru_cache(maxsize=4096)
def _date(day: int) -> str:
    return datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat()
