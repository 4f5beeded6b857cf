"""What can be set on a running fake X besides its world, limits, faults and credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Numbers = Literal["strings", "ints"]


@dataclass(slots=True)
class Settings:
    problem_host: str = "api.twitter.com"
    # OAuth 1.0a signatures are checked for it; empty: for the scheme and host of the request, as X
    # does.
    canonical_base: str = ""
    gzip: bool = False  # off by default: on loopback it only costs CPU
    latency_ms: float = 0.0
    token_latency_ms: float = 0.0  # between making new OAuth 2.0 tokens and sending them
    # The end of the problem type of a 402, of which X has sent two variants.
    depleted: Literal["credits", "credits-depleted"] = "credits-depleted"
    # How posts' fields may be asked for, but on the stream: X itself takes both (October 2026), its
    # documents only the one (2.166) or only the other (2.167, 2026-08-22).
    vocabulary: Literal["both", "tweet.fields", "post.fields"] = "both"
    usage_numbers: Numbers = "strings"
    # What a look-up by an old version's id shows; X's documentation contradicts itself here.
    old_versions: Literal["newest", "own"] = "newest"
    search_newest_s: float = 30.0  # a search ends so long ago
    search_end_s: float = 10.0  # one that gives an end time, so long ago at the latest
    allow_fake_now: bool = False
    keep: int = 200_000  # tweets held ready at most
