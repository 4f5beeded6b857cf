"""The routers of tweets. All methods of an address are in one, whichever module they are in."""

from __future__ import annotations

from ninja import Router

# Before the other one, whose {id} would take any word.
many = Router(tags=["tweets"])
single = Router(tags=["tweets"])
