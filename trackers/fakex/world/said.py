"""What someone decided that a post says, and the versions of one that was edited.

X gives each version an id and counts of its own; all of them are one post, and go together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

# X cuts longer texts, and shows the whole of them as a note.
CUT_AT = 280


@dataclass(frozen=True, slots=True)
class Said:
    """One version of a post. None and empty leave it as it was invented.

    `versions`: the ids of all of them, oldest first; empty when it was never edited. `written_ms`:
    when this one was; None for the first. `withheld` is as X shows it.
    """

    text: str | None = None
    withheld: Mapping[str, Any] | None = None
    media: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
    written_ms: int | None = None


UNTOLD = Said()
Sayings = Mapping[int, Said]


def edited(said: Sayings, post_id: int, *, new_id: int, text: str, now_ms: int) -> Sayings:
    """With one more version of a post, whichever version of it was named."""
    versions = (*(said.get(post_id, UNTOLD).versions or (post_id,)), new_id)
    older = {one: replace(said.get(one, UNTOLD), versions=versions) for one in versions[:-1]}
    newest = replace(older[versions[-2]], text=text, written_ms=now_ms)
    return {**said, **older, new_id: newest}


def newest_of(said: Sayings, post_id: int) -> int:
    versions = said[post_id].versions if post_id in said else ()
    return versions[-1] if versions else post_id


def cut(text: str) -> str:
    return text if len(text) <= CUT_AT else text[: CUT_AT - 1] + "…"
