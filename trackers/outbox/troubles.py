"""What goes wrong and stays so for a minute is an alert, once; and once more when it is over.

Every minute: how each thing stands ─> compared with what is known ─> alerts, and what is known next
Whatever fails and recovers between two looks is no news.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import models, transaction

from trackers.outbox.models import ALERTS
from trackers.outbox.tell import Told, tell

# So long it must last before anybody is alerted.
PATIENCE = timedelta(minutes=1)


class Trouble(models.Model):
    """Something that was found wrong at the last look. `told_at`: when that was an alert."""

    of = models.CharField(max_length=120, primary_key=True)
    since = models.DateTimeField()
    told_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.of} since {self.since}"


@dataclass(frozen=True, slots=True)
class Look:
    """How one thing stands now. `wrong`: in a sentence; empty: nothing is.

    `of`, `kind`: what it is, as in {"namespace": "tweet:update"}. `over`: what to say when what was
    wrong no longer is. `url`: the page on which a person sees it.
    """

    kind: str
    of: str
    wrong: str
    over: str
    url: str

    @property
    def key(self) -> str:
        return f"{self.kind} {self.of}"[:120]

    def alert(self, state: str, what: str) -> Told:
        data = {self.kind: self.of, "state": state, "what": what}
        return Told(ALERTS, "create", url=self.url, data=data)


@dataclass(frozen=True, slots=True)
class Changes:
    """Of `Trouble`: those that begin, those of which an alert is due, and those that are over."""

    begin: Sequence[Look]
    tell: Sequence[Look]
    end: Sequence[Look]
    alerts: Sequence[Told]


def compare(looks: Iterable[Look], known: Iterable[Trouble], *, now: datetime) -> Changes:
    rows = {one.of: one for one in known}
    begin, due, end, alerts = [], [], [], []
    for look in looks:
        row = rows.get(look.key)
        if look.wrong and row is None:
            begin.append(look)
        elif look.wrong and row and row.told_at is None and now - row.since >= PATIENCE:
            due.append(look)
            alerts.append(look.alert("down", look.wrong))
        elif not look.wrong and row is not None:
            end.append(look)
            if row.told_at is not None:
                alerts.append(look.alert("back", look.over))
    return Changes(begin, due, end, alerts)


def watch(looks: Iterable[Look], *, now: datetime) -> Sequence[Told]:
    """Remember what is wrong, and tell what is news; what was told."""
    with transaction.atomic():
        # Two that look at once: the second waits, and finds that it was told.
        known = list(Trouble.objects.select_for_update().order_by("of"))
        changes = compare(looks, known, now=now)
        Trouble.objects.bulk_create(
            [Trouble(of=one.key, since=now) for one in changes.begin], ignore_conflicts=True
        )
        Trouble.objects.filter(of__in=[one.key for one in changes.tell]).update(told_at=now)
        Trouble.objects.filter(of__in=[one.key for one in changes.end]).delete()
        tell(changes.alerts)
    return changes.alerts
