"""What stays wrong for a while becomes an alert, once; and once more when it is over.

Every minute: how each thing stands ─> compared with what is known ─> news, and what is known next
Whatever fails and recovers between two looks is not reported. People's own rules
(`trackers.alerts`) are compared here too, each with its own patience, and a rest after each alert.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import models, transaction
from django.db.models import Q

from trackers.outbox.models import ALERTS
from trackers.outbox.tell import Told, tell

# How long it must last before anybody is alerted.
PATIENCE = timedelta(minutes=1)
AT_ONCE = NO_REST = timedelta(0)


class Trouble(models.Model):
    """Something that was found wrong at the last look. `told_at`: when it became an alert.

    `rule`: the rule that looks at it; null for what tweetwatch looks at by itself. `quiet_until`:
    no alert of it before then; `since` is null while nothing is wrong meanwhile.
    """

    of = models.CharField(max_length=120, primary_key=True)
    rule = models.ForeignKey(
        "trackers.AlertRule", on_delete=models.CASCADE, null=True, related_name="+"
    )
    since = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)
    quiet_until = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # "which rest, and may be forgotten?"
            models.Index(fields=["quiet_until"], name="trouble_resting", condition=Q(since=None)),
            # "what is wrong now?" What rests may be much more.
            models.Index(fields=["of"], name="trouble_wrong", condition=Q(since__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.of} since {self.since}"


@dataclass(frozen=True, slots=True)
class Look:
    """How one thing stands now. `wrong`: what is wrong, in a sentence; empty: nothing is.

    `of`, `kind`: what it is, as in {"namespace": "tweet:update"}. `over`: what to say when what was
    wrong no longer is; empty: nothing. `url`: the page on which a person sees it.
    `rule`: whose look it is, `patience`: how long it must last, `rest`: how long the next alert of
    it has to wait. `is_moment`: it has happened, and does not last. `is_event`: subscribers to
    `alerts` get it. `data`: what else its event says.
    """

    kind: str
    of: str
    wrong: str
    over: str
    url: str
    rule: int | None = None
    patience: timedelta = PATIENCE
    rest: timedelta = NO_REST
    is_moment: bool = False
    is_event: bool = True
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        of = f"{self.kind} {self.of}"
        return (of if self.rule is None else f"rule {self.rule} {of}")[:120]


@dataclass(frozen=True, slots=True)
class News:
    """An alert, or the end of one."""

    look: Look
    state: Literal["down", "back"]

    @property
    def what(self) -> str:
        return self.look.wrong if self.state == "down" else self.look.over

    @property
    def data(self) -> dict[str, Any]:
        named = {self.look.kind: self.look.of}
        return {**named, **self.look.data, "state": self.state, "what": self.what}

    def told(self) -> Told:
        return Told(ALERTS, "create", url=self.look.url, data=self.data)


@dataclass(frozen=True, slots=True)
class Changes:
    """`put`: rows that begin or change; `drop`: those that are over, by key. `news`: to be told."""

    put: Sequence[Trouble]
    drop: Sequence[str]
    news: Sequence[News]


def compare(
    looks: Iterable[Look],
    known: Iterable[Trouble],
    *,
    now: datetime,
    judged: Collection[int] = (),
) -> Changes:
    """`judged`: rules of which these are all the looks; what else they found before is over."""
    rows = {one.of: one for one in known}
    put: list[Trouble] = []
    drop: list[str] = []
    news: list[News] = []

    def end(row: Trouble) -> None:
        if row.quiet_until is None or row.quiet_until <= now:
            drop.append(row.of)
        elif row.since is not None:
            put.append(resting(row))

    for look in looks:
        row = rows.pop(look.key, None)
        if not look.wrong:
            if row is not None:
                if row.since and row.told_at and look.over:
                    news.append(News(look, "back"))
                end(row)
            continue
        row = row or Trouble(of=look.key, rule_id=look.rule)
        began, told = row.since, row.told_at
        row.since = began or now
        if is_due(row, look.patience, now=now):
            row.told_at = now
            row.quiet_until = now + look.rest if look.rest else None
            news.append(News(look, "down"))
        if look.is_moment:
            end(row)
        elif began is None or told != row.told_at:
            put.append(row)
    for row in rows.values():
        if row.rule_id in judged:
            end(row)
    return Changes(put, drop, news)


def is_due(row: Trouble, patience: timedelta, *, now: datetime) -> bool:
    """Whether it has lasted long enough, is not reported yet, and its pause is over."""
    if row.told_at is not None or row.since is None:
        return False
    is_rested = row.quiet_until is None or row.quiet_until <= now
    return is_rested and now - row.since >= patience


def resting(row: Trouble) -> Trouble:
    row.since = row.told_at = None
    return row


def watch(looks: Iterable[Look], *, now: datetime, judged: Collection[int] = ()) -> Sequence[News]:
    """Store what is wrong, and report what is new; returns what was reported."""
    looks = list(looks)
    with transaction.atomic():
        # Of two concurrent looks, the second waits, and finds that it was reported.
        keys = [one.key for one in looks]
        found = Trouble.objects.filter(Q(of__in=keys) | Q(since__isnull=False))
        known = list(found.select_for_update().order_by("of"))
        changes = compare(looks, known, now=now, judged=judged)
        Trouble.objects.bulk_create(
            changes.put,
            update_conflicts=True,
            unique_fields=["of"],
            update_fields=["since", "told_at", "quiet_until"],
        )
        Trouble.objects.filter(of__in=changes.drop).delete()
        tell([one.told() for one in changes.news if one.look.is_event])
    return changes.news


def forget_rested(*, now: datetime) -> int:
    """Delete rows whose rest is over, and where nothing is wrong."""
    count, _ = Trouble.objects.filter(since=None, quiet_until__lte=now).delete()
    return count
