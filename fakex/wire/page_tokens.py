"""Pagination tokens: opaque, valid for one listing only, and always the same for the same place.

A token holds only a post and a direction, so it outlives requests, and its place is not shifted by
posts that appear above it.
"""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

from fakex.world.ids import MASK, mix

_ID_BYTES, _CHECK_BYTES = 8, 4


class Place(NamedTuple):
    """The posts above or below `id`, exclusive."""

    id: int
    to_newer: bool


def write_token(place: Place, *, listing: int) -> str:
    """The token of a place in the listing whose 64-bit name is `listing`."""
    hidden = place.id ^ listing >> 1
    check = mix((hidden + listing + place.to_newer) & MASK) & 0xFFFFFFFF
    raw = hidden.to_bytes(_ID_BYTES) + check.to_bytes(_CHECK_BYTES)
    return base64.b32hexencode(raw).decode().rstrip("=").lower()


def read_token(token: str, *, listing: int) -> Place | None:
    """The place, or None if it is not a token of this listing."""
    try:
        raw = base64.b32hexdecode(token.upper() + "=" * (-len(token) % 8))
    except (binascii.Error, ValueError):
        return None
    tweet_id = int.from_bytes(raw[:_ID_BYTES]) ^ listing >> 1
    for place in (Place(tweet_id, False), Place(tweet_id, True)):
        if write_token(place, listing=listing) == token:
            return place
    return None
