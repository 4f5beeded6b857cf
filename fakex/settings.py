"""What can be set on a running fake X besides its world, limits, faults and credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Numbers = Literal["strings", "ints"]


@dataclass(slots=True)
class Settings:
    """`gzip` is off by default: on loopback it only costs CPU. `keep` bounds tweets held ready.

    OAuth 1.0a signatures are checked for `canonical_base`; if that is empty, for the scheme and
    host of the request, as X does. `token_latency_ms` passes between making new OAuth 2.0 tokens
    and sending them; `depleted` ends the problem type of a 402, of which X has sent two variants.
    `old_versions`: what a look-up by an old version's id shows; X's documentation contradicts
    itself here.
    A search ends `search_newest_s` ago; one that gives an end time, `search_end_s` ago at the
    latest.
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
