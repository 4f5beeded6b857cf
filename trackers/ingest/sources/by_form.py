"""Lets programs add and change sources, by the rules of the page's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

from django.utils.html import strip_tags

from trackers.acts import Done
from trackers.history import Actor
from trackers.ingest.sources import acts
from trackers.ingest.sources.forms import SourceForm, changeable
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.naming import meant_source, short
from trackers.ingest.tweet_ids import ids_in

# Plain words, as argparse shows them.
KINDS = tuple(str(kind.value) for kind in (*Source.POLLED, Source.Kind.STREAM))
PRIORITIES = {priority.name.lower(): priority.value for priority in Source.Priority}


class RefusedFieldsError(Exception):
    """What is wrong, by field, in sentences of plain text. Empty key: with the form as a whole."""

    def __init__(self, faults: Mapping[str, Sequence[str]]) -> None:
        super().__init__(" ".join(one for some in faults.values() for one in some))
        self.faults = faults


def add_source(kind: str | None, of: str, fields: Mapping[str, Any], actor: Actor) -> Source:
    """Without a kind: the source that a name or a link means by itself."""
    form = SourceForm({"kind": kind or _meant_kind(of), "of": of, **_as_typed(fields)})
    _refuse_faults(form)
    if not acts.add(form, actor):
        _refuse_faults(form)
    return form.instance


def new_search(of: str) -> SourceForm:
    """The valid form of a search that is no source yet, which X may count before it is added."""
    form = SourceForm({"kind": Source.Kind.SEARCH, "of": of})
    _refuse_faults(form)
    return form


def change(source: Source, fields: Mapping[str, Any], actor: Actor) -> Done:
    """Change these fields of it, where they differ."""
    if wrong := [name for name in fields if name not in changeable(source)]:
        raise RefusedFieldsError({name: [f"{source} has no such setting."] for name in wrong})
    form = SourceForm({**_as_it_is(source), **_as_typed(fields)}, instance=source)
    _refuse_faults(form)
    done = acts.change(form, actor)
    if done is None:
        _refuse_faults(form)
    assert done is not None
    return done


def _meant_kind(of: str) -> str:
    if meant := meant_source(of):
        return str(meant.kind)
    if ids_in(of).is_address:
        # Whichever kind is named, the form says that a post is tracked by itself.
        return KINDS[0]
    raise RefusedFieldsError(
        {
            "kind": [
                f"“{short(of)}” does not say by itself what it is, as @nasa, #artemis and links do."
                f" Name its kind: {', '.join(KINDS)}."
            ]
        }
    )


def _as_typed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """As a person fills them in: a priority has a name, and `all` reads back without an end."""
    typed = dict(fields)
    if "priority" in typed:
        typed["priority"] = PRIORITIES[typed["priority"]]
    if typed.get("backfill") == "all":
        typed["backfill"] = ""
    return typed


def _as_it_is(source: Source) -> dict[str, Any]:
    """What the form of a source sends when nothing in it was changed."""
    form = SourceForm(instance=source)
    return {name: form[name].value() for name in form.fields}


def _refuse_faults(form: SourceForm) -> None:
    if not form.is_valid():
        raise RefusedFieldsError(
            {
                "" if name == "__all__" else name: [_plain(fault) for fault in faults]
                for name, faults in form.errors.items()
            }
        )


def _plain(fault: object) -> str:
    """Without HTML: a page's sentence may contain a link."""
    return unescape(strip_tags(str(fault)))
