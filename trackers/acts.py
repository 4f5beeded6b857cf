"""What people and programs do to things: one function an act, whatever the door.

    page, API, admin, command: parse ─> a part's act(thing, actor) ─> Done ─> message, JSON, text

The act checks, does it, writes the history, and returns what to say. A part's acts are in its
module `acts`. What a page and the API need to know besides, such as the permission, is its `Act`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an act."""

    # For people: whole sentences, which name the thing.
    message: str
    # For programs: how many things it changed, or events it moved.
    count: int = 0
    # False: nothing was done or it went wrong, and `message` says why.
    is_done: bool = True


@dataclass(frozen=True, slots=True)
class Act:
    """An act as pages and the API offer it."""

    # Called with the thing, the actor, and by name what else this act takes.
    do: Callable[..., Done]
    # What the user of the door must have.
    permission: str
    # The question that a page asks before: of the thing. None: it does not ask.
    asks: Callable[[Any], str] | None = None
    # What the button below the question says.
    button: str = ""
    # The thing is gone afterwards, and its page with it.
    leaves: bool = False


def for_own(offered: Mapping[str, Act], permission: str) -> dict[str, Act]:
    """The same acts on what is a person's own: there it takes no more than this permission."""
    return {name: replace(act, permission=permission) for name, act in offered.items()}
