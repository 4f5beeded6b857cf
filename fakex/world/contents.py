"""Contents set for single posts, and the versions of edited posts.

X gives each version its own id and counts; all of them are one post, and are deleted together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

# X cuts longer texts, and shows them in full as a note.
CUT_AT = 280


@dataclass(frozen=True, slots=True)
class SetContent:
    """One version of a post. None and empty values leave it as it was invented."""

    text: str | None = None
    withheld: Mapping[str, Any] | None = None  # as X shows it
    media: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()  # all ids, oldest first; empty when it was never edited
    written_ms: int | None = None  # when this one was written; None for the first


AS_INVENTED = SetContent()
Contents = Mapping[int, SetContent]


def edited(contents: Contents, post_id: int, *, new_id: int, text: str, now_ms: int) -> Contents:
    """The sayings with one more version of a post, whichever version was named."""
    versions = (*(contents.get(post_id, AS_INVENTED).versions or (post_id,)), new_id)
    older = {
        one: replace(contents.get(one, AS_INVENTED), versions=versions) for one in versions[:-1]
    }
    newest = replace(older[versions[-2]], text=text, written_ms=now_ms)
    return {**contents, **older, new_id: newest}


def newest_of(contents: Contents, post_id: int) -> int:
    versions = contents[post_id].versions if post_id in contents else ()
    return versions[-1] if versions else post_id


def cut(text: str) -> str:
    return text if len(text) <= CUT_AT else text[: CUT_AT - 1] + "…"
