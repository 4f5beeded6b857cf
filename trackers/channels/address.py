"""The parts of an address as a person types them, checked.

What is wrong is said by the part's name, and never with what was typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec

from django.conf import settings
from django.core.exceptions import ValidationError

from trackers.channels.shapes import SHAPES
from trackers.channels.shapes.shape import Part
from trackers.events.delivery.addresses import fault_of
from trackers.xapi.keys import Secrets

_MOST_LENGTH = 2000
_NEEDS_EXTRA = (
    "Whoever runs this server has to install {extra} first: pip install -r "
    "requirements-channels.txt."
)


def checked_parts(
    kind: str, typed: Mapping[str, str], before: Mapping[str, str] | None = None
) -> Secrets:
    """The parts of an address of this kind. A part that was left empty keeps what it was `before`,
    if it is secret; ValidationError by the names of parts."""
    shape = SHAPES.get(kind)
    if shape is None:
        raise ValidationError({"kind": f"The kinds of channels are {', '.join(SHAPES)}."})
    if shape.extra and find_spec(shape.extra) is None:
        raise ValidationError({shape.parts[0].name: _NEEDS_EXTRA.format(extra=shape.extra)})
    known = {part.name for part in shape.parts}
    if typed.keys() - known:
        # Unknown names are not shown: if names and values are mixed up, one of them is a secret.
        names = ", ".join(part.name for part in shape.parts)
        raise ValidationError({"address": f"The address of a {shape.label} channel has: {names}."})
    faults: dict[str, str] = {}
    parts = {}
    for part in shape.parts:
        value = str(typed.get(part.name) or "").strip()
        if not value and before and (part.is_secret or part.name not in typed):
            value = before.get(part.name, "")
        if fault := _fault_of(part, value):
            faults[part.name] = fault
        elif value:
            parts[part.name] = value
    if faults:
        raise ValidationError(faults)
    return Secrets(parts)


def place_of(kind: str, parts: Mapping[str, str]) -> str:
    """What people may see of an address."""
    return SHAPES[kind].shown(parts)[:200]


def _fault_of(part: Part, value: str) -> str:
    if not value:
        return "" if part.is_optional else f"Enter the {part.label}."
    if len(value) > _MOST_LENGTH:
        return f"It has more than {_MOST_LENGTH:,} characters."
    if not re.fullmatch(part.pattern, value):
        return part.wrong
    return fault_of(value, plain_http=settings.EGRESS_PLAIN_HTTP) if part.is_url else ""
