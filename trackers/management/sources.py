"""Sources as commands find, make, change and show them: by the rules of the form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from trackers.acts import Done
from trackers.history import by_command
from trackers.ingest.sources import by_form
from trackers.ingest.sources.by_form import KINDS, PRIORITIES, RefusedFieldsError
from trackers.ingest.sources.forms import LATER, SourceForm, changeable
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.status import SourceStatus
from trackers.management import status_json
from trackers.management.status_lines import how_many
from tweetwatch.clock_times import clock_time
from tweetwatch.command_line import EXIT_USAGE

__all__ = [
    "KINDS",
    "PRIORITIES",
    "add_from_options",
    "change_source",
    "describe_source",
    "find_sources",
    "named_fields",
    "new_search_from_options",
    "source_json",
]

# The name of the option for a field of the form.
_OPTIONS = {
    "of": "--of",
    "exclude_replies": "--without-replies",
    "exclude_retweets": "--without-retweets",
    **{name: f"--{name.replace('_', '-')}" for name in LATER if not name.startswith("exclude_")},
}


def add_from_options(words: Sequence[str], fields: Mapping[str, Any]) -> Source:
    """A new source, named by these words, the first of which may be its kind; CommandError with
    what is wrong, by the names of the options."""
    kind = words[0] if len(words) > 1 and words[0] in KINDS else None
    of = " ".join(words[1:] if kind else words)
    try:
        return by_form.add_source(kind, of, fields, by_command())
    except RefusedFieldsError as refused:
        raise _refused_options(refused) from None


def new_search_from_options(of: str) -> SourceForm:
    try:
        return by_form.new_search(of)
    except RefusedFieldsError as refused:
        raise _refused_options(refused) from None


def change_source(source: Source, fields: Mapping[str, Any]) -> Done:
    """Change these fields of it, where they differ."""
    may = changeable(source)
    if wrong := [_OPTIONS[name] for name in fields if name not in may]:
        raise CommandError(f"{source} has no {' and no '.join(wrong)}.", returncode=EXIT_USAGE)
    try:
        return by_form.change(source, fields, by_command())
    except RefusedFieldsError as refused:
        raise _refused_options(refused) from None


def _refused_options(refused: RefusedFieldsError) -> CommandError:
    words = [
        f"{_OPTIONS[name]}: {fault}" if name in LATER else fault
        for name, faults in refused.faults.items()
        for fault in faults
    ]
    return CommandError(" ".join(words), returncode=EXIT_USAGE)


def named_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were named."""
    named = {name: options.get(name) for name in _OPTIONS}
    return {name: value for name, value in named.items() if value is not None}


def find_sources(ids: Sequence[str]) -> list[Source]:
    """The sources with these ids, all of them, in that order."""
    wrong = [id for id in ids if not (id.isascii() and id.isdigit() and len(id) < 19)]
    if wrong or not ids:
        raise CommandError(
            f"“{' '.join(wrong)}” is not the id of a source: `manage.py source list` has them.",
            returncode=EXIT_USAGE,
        )
    keys = list(dict.fromkeys(map(int, ids)))
    sources = Source.objects.in_bulk(keys)
    if missing := [str(id) for id in keys if id not in sources]:
        raise CommandError(f"There is no source {', '.join(missing)}.")
    return [sources[id] for id in keys]


def source_json(status: SourceStatus) -> dict[str, Any]:
    """As `status` describes it, and how it is set."""
    source = status.source
    return {
        **status_json.source_json(status),
        "name": str(source),
        "owner": source.owner,
        "priority": Source.Priority(source.priority).name.lower(),
        "every_seconds": source.every.total_seconds(),
        "late_by_seconds": source.skew.total_seconds() if source.skew is not None else None,
        "reason": status.reason,
    }


def describe_source(status: SourceStatus) -> str:
    source = status.source
    words = [f"{source.pk}  {source}: {status.state}", how_many(source.yielded, "posts", "post")]
    if source.leaked:
        words.append(f"{source.leaked:,} leaked")
    if status.gaps_open or status.gaps_lost:
        gaps = how_many(status.gaps_open, "gaps to fill", "gap to fill")
        words.append(f"{gaps}, {status.gaps_lost:,} lost")
    if status.next_poll_at:
        words.append(f"next at {clock_time(status.next_poll_at, now=timezone.now())}")
    return ", ".join(words) + (f". {status.reason}" if status.reason else "")
