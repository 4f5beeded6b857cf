"""Exchanges the old data for the upgraded ones, which may be interrupted anywhere.

data ─> data.16 (kept), then data.upgraded ─> data: between the two there is no `data`.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from tweetwatch.embedded.place import Place


def upgraded(place: Place) -> Path:
    return place.directory / "data.upgraded"


def exchange(place: Place, *, old_version: int) -> Path:
    """Put the upgraded data in place of the old ones; return where these are kept."""
    kept = next(
        path
        for number in itertools.count(1)
        for path in [place.directory / f"data.{old_version}{f'-{number}' if number > 1 else ''}"]
        if not os.path.lexists(path)
    )
    place.data.rename(kept)
    finish(place)
    return kept


def finish(place: Place) -> None:
    """Finish an interrupted exchange; otherwise an empty cluster would be made instead."""
    if upgraded(place).is_dir() and not os.path.lexists(place.data):
        upgraded(place).rename(place.data)
