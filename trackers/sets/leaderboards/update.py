"""Every hour: the lists of fixed periods."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from trackers.rollups.models import RollupKind
from trackers.sets.leaderboards.count import ComparedSpans, count_sets
from trackers.sets.leaderboards.models import Leaderboard
from trackers.sets.period_figures import SET_AGES, default_age
from trackers.sets.periods import TimeSpan
from tweetwatch.pieces import Deadline, PieceWork, in_pieces

LISTED_KINDS = tuple(kind for kind in RollupKind if kind != RollupKind.ALL)
LIST_HOURS = {"24h": 24, "7d": 7 * 24, "30d": 30 * 24}
_LIST_STEP = timedelta(hours=1)


def update_leaderboards(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Make the lists that are not of this hour yet, one a piece."""
    until = _full_hour(now)

    def piece() -> int | None:
        made = set(Leaderboard.objects.filter(until__gte=until).values_list("kind", "hours"))
        left = [
            (kind, name)
            for name, hours in LIST_HOURS.items()
            for kind in LISTED_KINDS
            if (kind, hours) not in made
        ]
        if not left:
            return None
        kind, name = left[0]
        rows = count_sets(kind, spans_of_hours(name, until))
        Leaderboard.objects.update_or_create(
            kind=kind,
            hours=LIST_HOURS[name],
            defaults={"until": until, "rows": [asdict(row) for row in rows]},
        )
        return 1

    return in_pieces("leaderboards", piece, left=lambda: 1, deadline=deadline)


def spans_of_hours(name: str, until: datetime) -> ComparedSpans:
    """Those of LIST_HOURS until then, and as many before."""
    length, age = LIST_HOURS[name] * _LIST_STEP, default_age(name)
    since = until - length
    return ComparedSpans(
        this=TimeSpan(since, until),
        before=TimeSpan(since - length, since),
        old=TimeSpan(since, max(since, until - SET_AGES[age])),
        age=age,
    )


def _full_hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
