"""Whose posts come over the stream: the active sources of its kind, by X's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.crypto import salted_hmac

from trackers.ingest.models import Source
from trackers.xapi.parse_stream import Matched

# With a mark of this installation: another one may use the same app, and deletes only its own.
TAG = f"tweetwatch:{salted_hmac(__name__, 'rules').hexdigest()[:8]}:"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A source whose posts are to come: its rule's text, and since when there is one."""

    source: int
    value: str
    name: str
    since: datetime


@dataclass(slots=True)
class Listeners:
    """Who gets what a rule matched."""

    wanted: Mapping[int, Wanted] = field(default_factory=dict)
    by_rule: Mapping[int, int] = field(default_factory=dict)

    def of(self, rules: Iterable[Matched]) -> tuple[int, ...]:
        """The sources of these rules, in the order of ids; none for the rules of others.

        By the tag too: a rule may act whose number was lost on its way to us.
        """
        found = (self.by_rule.get(rule.id) or source_of(rule.tag) for rule in rules)
        return tuple(sorted({source for source in found if source in self.wanted}))

    def name(self, sources: Iterable[int]) -> str:
        """The reason on the tweet."""
        return ", ".join(self.wanted[source].name for source in sources)


def wanted_now() -> dict[int, Wanted]:
    """The active sources of streams, in the order of ids."""
    found = Source.objects.active().filter(kind=Source.Kind.STREAM).order_by("pk")
    return {
        source.pk: Wanted(source.pk, source.of, str(source), source.created_at) for source in found
    }


def tag_of(source: int) -> str:
    return f"{TAG}{source}"


def source_of(tag: str) -> int:
    """The source that a tag of ours names; 0 for any other."""
    number = tag.removeprefix(TAG)
    return int(number) if number != tag and number.isascii() and number.isdigit() else 0
