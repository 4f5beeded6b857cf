"""What stays wrong for a while becomes an alert, once; and once more when it is over.

Every minute: observations ─> compared with known findings ─> news, and the next findings
Whatever fails and recovers between two observations is not reported. People's own rules
(`trackers.alerts`) are compared here too, each with its own patience, and a rest after each alert.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import transaction
from django.db.models import Q

from trackers.outbox.models import ALERTS_TOPIC, Finding
from trackers.outbox.publish import NewEvent, publish_events

# How long it must last before anybody is alerted.
_PATIENCE = timedelta(minutes=1)
NO_PATIENCE = _NO_REST = timedelta(0)


@dataclass(frozen=True, slots=True)
class Observation:
    """How one thing stands now."""

    kind: str  # what it is of, as in "queue"
    of: str  # and which, as in "tweet:update"
    wrong: str  # what is wrong, in a sentence; empty: nothing is
    over: str  # what to say when what was wrong no longer is; empty: nothing
    url: str  # the page on which a person sees it
    rule: int | None = None  # whose it is
    patience: timedelta = _PATIENCE  # how long it must last
    rest: timedelta = _NO_REST  # how long the next alert of it has to wait
    is_moment: bool = False  # it has happened, and does not last
    is_event: bool = True  # subscribers to `alerts` get it
    data: Mapping[str, Any] = field(default_factory=dict)  # what else its event says

    @property
    def key(self) -> str:
        of = f"{self.kind} {self.of}"
        return (of if self.rule is None else f"rule {self.rule} {of}")[:120]


@dataclass(frozen=True, slots=True)
class News:
    """An alert, or the end of one."""

    observation: Observation
    state: Literal["down", "back"]

    @property
    def what(self) -> str:
        return self.observation.wrong if self.state == "down" else self.observation.over

    @property
    def data(self) -> dict[str, Any]:
        named = {self.observation.kind: self.observation.of}
        return {**named, **self.observation.data, "state": self.state, "what": self.what}

    def to_event(self) -> NewEvent:
        return NewEvent(ALERTS_TOPIC, "create", url=self.observation.url, data=self.data)


@dataclass(frozen=True, slots=True)
class Changes:
    put: Sequence[Finding]  # rows that begin or change
    drop: Sequence[str]  # those that are over, by key
    news: Sequence[News]  # to be told


def _compare_with_known(
    observations: Iterable[Observation],
    known: Iterable[Finding],
    *,
    now: datetime,
    judged: Collection[int] = (),
) -> Changes:
    """`judged`: rules whose findings are complete in `observations`: earlier ones that are missing
    there have ended."""
    rows = {one.of: one for one in known}
    put: list[Finding] = []
    drop: list[str] = []
    news: list[News] = []

    def end(row: Finding) -> None:
        if row.quiet_until is None or row.quiet_until <= now:
            drop.append(row.of)
        elif row.since is not None:
            put.append(_quietened(row))

    for observation in observations:
        row = rows.pop(observation.key, None)
        if not observation.wrong:
            if row is not None:
                if row.since and row.alerted_at and observation.over:
                    news.append(News(observation, "back"))
                end(row)
            continue
        row = row or Finding(of=observation.key, rule_id=observation.rule)
        began, alerted_before = row.since, row.alerted_at
        row.since = began or now
        if _is_alert_due(row, observation.patience, now=now):
            row.alerted_at = now
            row.quiet_until = now + observation.rest if observation.rest else None
            news.append(News(observation, "down"))
        if observation.is_moment:
            end(row)
        elif began is None or alerted_before != row.alerted_at:
            put.append(row)
    for row in rows.values():
        if row.rule_id in judged:
            end(row)
    return Changes(put, drop, news)


def _is_alert_due(row: Finding, patience: timedelta, *, now: datetime) -> bool:
    """Whether it has lasted long enough, is not reported yet, and its pause is over."""
    if row.alerted_at is not None or row.since is None:
        return False
    is_rested = row.quiet_until is None or row.quiet_until <= now
    return is_rested and now - row.since >= patience


def _quietened(row: Finding) -> Finding:
    row.since = row.alerted_at = None
    return row


def update_findings(
    observations: Iterable[Observation], *, now: datetime, judged: Collection[int] = ()
) -> Sequence[News]:
    """Store what is wrong, and report what is new; returns what was reported."""
    observations = list(observations)
    with transaction.atomic():
        # Of two concurrent runs, the second waits, and finds that it was reported.
        keys = [observation.key for observation in observations]
        findings = Finding.objects.filter(Q(of__in=keys) | Q(since__isnull=False))
        known = list(findings.select_for_update().order_by("of"))
        changes = _compare_with_known(observations, known, now=now, judged=judged)
        Finding.objects.bulk_create(
            changes.put,
            update_conflicts=True,
            unique_fields=["of"],
            update_fields=["since", "alerted_at", "quiet_until"],
        )
        Finding.objects.filter(of__in=changes.drop).delete()
        publish_events(
            [change.to_event() for change in changes.news if change.observation.is_event]
        )
    return changes.news


def prune_rested(*, now: datetime) -> int:
    """Delete rows whose rest is over, and where nothing is wrong."""
    count, _ = Finding.objects.filter(since=None, quiet_until__lte=now).delete()
    return count
