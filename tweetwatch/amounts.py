"""A number of things in words, everywhere in the same way."""

from __future__ import annotations


def amount(number: int, noun: str, plural: str = "") -> str:
    """1 tweet; 2,000 tweets; with a `plural` for those that take no s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
