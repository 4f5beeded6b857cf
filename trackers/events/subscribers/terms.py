"""The terms under which a subscriber gets events: checked and set here, for all doors.

    command, page, API ─> Terms ─> acts.add, acts.change ─> a Subscriber, its topics, its secrets

A ValidationError says by field what is wrong; nothing is stored then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from trackers.events.delivery.formats import FIGURES_ORDER
from trackers.events.models import Subscriber
from trackers.events.subscribers import headers
from trackers.events.subscribers.rules import check_topics, check_uuid
from trackers.ingest.sources.models import Source

# Fields whose sentences say themselves what they are about.
_SPEAKING = ("__all__", "name", "callback", "topics", "uuid", "headers", "at_least")
TWICE = "There is already a subscriber with this name."


class NoSuchSubscriberError(LookupError):
    """No subscriber has this name; it may have been removed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no subscriber called {name[:64]}.")


@dataclass(frozen=True, slots=True)
class Terms:
    # Of Subscriber, by name; absent ones keep their values, or get their defaults.
    fields: Mapping[str, Any]
    topics: Sequence[str] | None = None  # None: as they are
    uuid: str | None = field(default=None, repr=False)  # None: as it is
    # Absent ones stay, None removes one.
    headers: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    may_be_idle: bool = False  # it may have no topic, as on the bus


# The fields of Subscriber that programs and commands call the same.
_SAME_NAMES = (
    "callback", "max_events", "timeout_ms", "ordered", "concurrency", "rate", "format",
    "with_data", "authors", "sources",
)  # fmt: skip


def named_terms(named: Mapping[str, Any]) -> Terms:
    """As programs and commands name them: `each_change`, and `at_least` like likes=1000, or empty
    for any figure. Raises ValueError with a sentence."""
    fields = {name: named[name] for name in _SAME_NAMES if name in named}
    if "each_change" in named:
        fields["newest_only"] = not named["each_change"]
    if "at_least" in named:
        least = named["at_least"]
        fields["metric"], fields["at_least"] = at_least_of(least) if least else ("", None)
    return Terms(
        fields,
        topics=named.get("topics"),
        uuid=named.get("uuid"),
        headers=named.get("headers", {}),
    )


def locked_subscriber(name: str, **known: Any) -> Subscriber:
    """The subscriber, locked until the end of the transaction."""
    there = Subscriber.objects.filter(removed_at=None, **known).select_for_update(no_key=True)
    if (one := there.first()) is None:
        raise NoSuchSubscriberError(name)
    return one


def set_terms(subscriber: Subscriber, terms: Terms, *, topics: list[str]) -> list[str]:
    """Set the terms on a subscriber without saving it; return its topics, if all is valid."""
    faults: dict[str, list[str]] = {}
    before = subscriber.sources
    for name, value in terms.fields.items():
        setattr(subscriber, name, value)
    try:
        subscriber.secrets = _secrets_of(subscriber, terms)
    except ValidationError as error:
        faults |= error.message_dict
    try:
        check_topics(topics, may_be_none=terms.may_be_idle)
    except ValidationError as error:
        faults["topics"] = error.messages
    try:
        subscriber.full_clean()
    except ValidationError as error:
        faults |= {name: _messages(some) for name, some in error.error_dict.items()}
    if "sources" not in faults:
        try:
            check_sources(subscriber.sources, before=before)
        except ValidationError as error:
            faults["sources"] = error.messages
    if faults:
        raise ValidationError(faults)
    return topics


def check_sources(sources: Sequence[int], *, before: Sequence[int] = ()) -> None:
    """Refuse a source that does not exist; one that the subscriber had may have been removed."""
    new = set(sources).difference(before)
    if unknown := sorted(
        new.difference(Source.objects.filter(pk__in=new).values_list("pk", flat=True))
    ):
        numbers = ", ".join(map(str, unknown[:10]))
        raise ValidationError(
            f"There {'are no sources' if unknown[1:] else 'is no source'} {numbers}."
        )


def _messages(some: Sequence[ValidationError]) -> list[str]:
    return [said for one in some for said in ([TWICE] if one.code == "unique" else one.messages)]


def _secrets_of(one: Subscriber, terms: Terms) -> dict[str, Any]:
    kept: dict[str, Any] = dict(one.secrets)
    uuid = kept.get("uuid", "") if terms.uuid is None else terms.uuid
    own = _headers_of(kept.get("headers", {}), terms.headers)
    try:
        check_uuid(uuid)
    except ValidationError as error:
        raise ValidationError({"uuid": error.messages}) from None
    if uuid and any(name.lower() == "authorization" for name in own):
        raise ValidationError(
            {"headers": "A uuid is sent as the header Authorization. Give one of them, not both."}
        )
    secrets = {**kept, "uuid": uuid, "headers": own}
    return {name: value for name, value in secrets.items() if value}


def _headers_of(kept: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    try:
        return headers.changed(kept, changes)
    except ValidationError as error:
        raise ValidationError({"headers": error.messages}) from None


def at_least_of(text: str) -> tuple[str, int]:
    """Parse a metric and its least figure, such as likes=1000."""
    metric, _, number = text.partition("=")
    if (
        metric not in FIGURES_ORDER
        or not (number.isascii() and number.isdecimal())
        or len(number) > 18
    ):
        raise ValueError(f"{text[:40]} is not like likes=1000, of {', '.join(FIGURES_ORDER)}.")
    return metric, int(number)


def sentences(error: ValidationError) -> list[str]:
    """What is wrong, with the name of the field where the sentence itself does not give it."""
    return [
        sentence if field in _SPEAKING
        else f"{field}: {sentence}"
        for field, saids in error.message_dict.items()
        for sentence in saids
    ]  # fmt: skip
