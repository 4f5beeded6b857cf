"""What can be set of a running fake X besides its world, limits, faults and credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Numbers = Literal["strings", "ints"]


@dataclass(slots=True)
class Settings:
    """`gzip` is off at first: on loopback it only costs CPU. `keep` bounds tweets held ready.

    OAuth 1.0a signatures are checked for `canonical_base`; when it is empty for the scheme and the
    host that were asked, as X does. `token_latency_ms` comes between the making of new OAuth 2.0
    tokens and the reply with them; `depleted` is the last part of the type of a 402's problem, of
    which X has sent two. `old_versions`: what a look-up by the id of an old version shows, on which
    X's pages differ.
    A search ends `search_newest_s` ago, or `search_end_s` ago at the latest when it says an end.
    """

    problem_host: str = "api.twitter.com"
    canonical_base: str = ""
    gzip: bool = False
    latency_ms: float = 0.0
    token_latency_ms: float = 0.0
    depleted: Literal["credits", "credits-depleted"] = "credits-depleted"
    usage_numbers: Numbers = "strings"
    old_versions: Literal["newest", "own"] = "newest"
    search_newest_s: float = 30.0
    search_end_s: float = 10.0
    allow_fake_now: bool = False
    keep: int = 200_000
