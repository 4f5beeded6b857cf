"""Cursors of lists: opaque and signed, and of no use for another list or other filters."""

from __future__ import annotations

from typing import Any

from django.core.signing import BadSignature, Signer

_MAX_CURSOR_LENGTH = 500
NOT_THIS_LIST = "This cursor is not from this list with these filters: begin without one."


def cursor_of(position: Any, *, of: str) -> str:
    """`of`: the list and its filters; `position`: what JSON can hold."""
    return Signer(salt=f"api:{of}").sign_object(position)


def position_of(cursor: str, *, of: str) -> Any:
    """Where the page begins; None without a cursor."""
    if not cursor:
        return None
    if len(cursor) > _MAX_CURSOR_LENGTH:
        raise ValueError(NOT_THIS_LIST)
    try:
        return Signer(salt=f"api:{of}").unsign_object(cursor)
    except (BadSignature, ValueError):
        raise ValueError(NOT_THIS_LIST) from None
