"""What a search finds: names of things, each with where it leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    title: str
    address: str
    detail: str = ""
    # An act, which is sent by a form; else a page, which is opened.
    is_act: bool = False
    # What the form sends.
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    found: Sequence[Found]
