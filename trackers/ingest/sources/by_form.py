"""Lets programs add and change sources, by the rules of the page's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.html import strip_tags

from trackers.ingest.sources import life
from trackers.ingest.sources.forms import SourceForm, changeable
from trackers.ingest.sources.models import Source

# Plain words, as argparse shows them.
KINDS = tuple(str(kind.value) for kind in (*Source.POLLED, Source.Kind.STREAM))
PRIORITIES = {priority.name.lower(): priority.value for priority in Source.Priority}


class RefusedFieldsError(Exception):
    """What is wrong, by field, in sentences of plain text. Empty key: with the form as a whole."""

    def __init__(self, faults: Mapping[str, Sequence[str]]) -> None:
        super().__init__(" ".join(one for some in faults.values() for one in some))
        self.faults = faults


def add(kind: str, of: str, fields: Mapping[str, Any]) -> Source:
    form = SourceForm({"kind": kind, "of": of, **fields})
    refuse_faults(form)
    try:
        with transaction.atomic():
            life.add(form.instance)
    except IntegrityError:
        there = "It already exists: somebody else has just added it."
        raise RefusedFieldsError({"": [there]}) from None
    return form.instance


def change(source: Source, fields: Mapping[str, Any]) -> Sequence[str]:
    """Change these fields of it; returns the names of those that changed."""
    if wrong := [name for name in fields if name not in changeable(source)]:
        raise RefusedFieldsError({name: [f"{source} has no such setting."] for name in wrong})
    form = SourceForm({**as_it_is(source), **fields}, instance=source)
    refuse_faults(form)
    changed: Sequence[str] = form.changed_data
    try:
        with transaction.atomic():
            life.change(form.instance, changed)
    except IntegrityError:
        there = "There is already a source like that."
        raise RefusedFieldsError({"of": [there]}) from None
    return changed


def as_it_is(source: Source) -> dict[str, Any]:
    """What the form of a source sends when nothing in it was changed."""
    form = SourceForm(instance=source)
    return {name: form[name].value() for name in form.fields}


def refuse_faults(form: SourceForm) -> None:
    if not form.is_valid():
        raise RefusedFieldsError(
            {
                "" if name == "__all__" else name: [plain(fault) for fault in faults]
                for name, faults in form.errors.items()
            }
        )


def plain(fault: object) -> str:
    """Without HTML: a page's sentence may contain a link."""
    return unescape(strip_tags(str(fault)))
