"""What can be set for the project that pays: prices, limits, and errors of its usage report."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

LONGEST_LAG_S = 3600


@dataclass(slots=True)
class Terms:
    """None is no limit. The drift is in posts, reported too many for today and so for the month."""

    price_post_micro: int = 5_000
    price_owned_micro: int = 1_000
    price_user_micro: int = 10_000
    # A list: once a day; a count: each request (x-api/getting-started/pricing, 2026-08-22).
    price_list_micro: int = 5_000
    price_count_micro: int = 5_000
    price_all_count_micro: int = 10_000
    credits_micro: int | None = None
    spend_limit_micro: int | None = None
    monthly_cap: int | None = None
    usage_lag_s: float = 0.0
    usage_drift: int = 0
    empty_refuses_all: bool = False


_LIMITS = {"credits_micro", "spend_limit_micro", "monthly_cap"}
_TERMS = {term.name for term in fields(Terms)}


def read_term(name: str, value: Any) -> Any:
    if name not in _TERMS:
        raise ValueError(f"unknown terms: {name}; known: {', '.join(sorted(_TERMS))}")
    if value is None:
        if name not in _LIMITS:
            raise ValueError(f"{name} needs a number")
        return None
    number = float(value) if name == "usage_lag_s" else int(value)
    if number < 0 and name not in ("usage_drift", "credits_micro"):
        raise ValueError(f"{name} is 0 or more")
    if name == "usage_lag_s" and number > LONGEST_LAG_S:
        raise ValueError(f"usage_lag_s is {LONGEST_LAG_S} at most")
    return bool(number) if name == "empty_refuses_all" else number
