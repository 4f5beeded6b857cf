"""What can be set of a running fake X besides its world, limits, faults and credentials."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Settings:
    """`gzip` is off at first: on loopback it only costs CPU. `keep` bounds tweets held ready."""

    problem_host: str = "api.twitter.com"
    canonical_base: str = "https://api.twitter.com"
    gzip: bool = False
    latency_ms: float = 0.0
    keep: int = 200_000
