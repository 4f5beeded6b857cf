"""Whose posts come over the stream: the active sources of that kind, by X's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from trackers.ingest.sources.models import Source
from trackers.ingest.stream.marks import NOBODYS, Mark
from trackers.xapi.parse.stream import Matched


@dataclass(frozen=True, slots=True)
class WantedRule:
    """A source whose posts should come: its rule's text, and since when it exists."""

    source: int
    value: str
    name: str
    since: datetime
    rule: int | None = None  # the one X had for it when its rules were last read


@dataclass(slots=True)
class Listeners:
    """Which sources get what a rule matched."""

    wanted: Mapping[int, WantedRule] = field(default_factory=dict)
    by_rule: Mapping[int, Sequence[int]] = field(default_factory=dict)
    mark: Mark = NOBODYS

    def of(self, rules: Iterable[Matched]) -> tuple[int, ...]:
        """The sources of these rules, in the order of ids; empty for other people's rules.

        Also by tag: a rule may be active though its number never reached us.
        """
        sources = {
            source
            for rule in rules
            for source in self.by_rule.get(rule.id) or (self.mark.source_of(rule.tag),)
        }
        return tuple(sorted(sources & self.wanted.keys()))

    def name(self, sources: Iterable[int]) -> str:
        """The reason to store with the tweet."""
        return ", ".join(self.wanted[source].name for source in sources)


def wanted_now() -> dict[int, WantedRule]:
    """The active sources of streams, in the order of ids."""
    sources = Source.objects.active().filter(kind=Source.Kind.STREAM).order_by("pk")
    return {
        source.pk: WantedRule(source.pk, source.of, str(source), source.created_at, source.rule_id)
        for source in sources
    }
