"""What a person has not read of the log: alerts that came since they opened it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from trackers.alerts.models import AlertNotice, AlertsRead
from tweetwatch.database import cursor

# More are not counted: the menu says 99+.
UNREAD_MOST = 99
# Tests and digests lie between the alerts.
_LINES_READ = 1000
_MARK_READ = """
    INSERT INTO trackers_alertsread AS r (user_id, place)
    SELECT %(person)s, least(%(until)s, coalesce(max(id), 0)) FROM trackers_alertnotice
    ON CONFLICT (user_id) DO UPDATE SET place = greatest(r.place, excluded.place)
    RETURNING place
"""


def place_of(person: User) -> int:
    """The id of the newest notice that they have read; 0 if there was none yet."""
    read = getattr(person, "alerts_read", None)
    return int(read.place) if read else _before(person).first() or 0


def _before(person: User) -> QuerySet[AlertNotice, int]:
    """Ids of what was raised before the account was made, the newest first."""
    older = AlertNotice.objects.filter(at__lt=person.date_joined).order_by("-at")
    return older.values_list("pk", flat=True)


def count_unread(person: User) -> int:
    """At most one more than `UNREAD_MOST`, among the newest thousand lines of the log."""
    read = getattr(person, "alerts_read", None)
    place = Value(read.place) if read else Coalesce(Subquery(_before(person)[:1]), 0)
    lines = AlertNotice.objects.seen_by(person).filter(pk__gt=place)
    alerts = AlertNotice.objects.filter(
        kind=AlertNotice.Kind.ALERT, pk__in=lines.values("pk")[:_LINES_READ]
    )
    return alerts[: UNREAD_MOST + 1].count()


def mark_read(person: User, until: int) -> None:
    """All up to the notice with this id; never fewer than before, nor what is not there yet."""
    if until <= place_of(person):
        return
    with cursor() as db:
        row = db.execute(_MARK_READ, {"person": person.pk, "until": until}).fetchone()
    assert row is not None
    person.alerts_read = AlertsRead(user=person, place=row[0])
