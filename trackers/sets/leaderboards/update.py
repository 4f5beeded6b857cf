"""Every hour: the lists of fixed periods. And what a page or a program asks for: one of them, or a
list of other days."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from django.db import transaction

from trackers.rollups.models import RollupKind
from trackers.rollups.recount import quarter_at
from trackers.sets.leaderboards.count import ABOVE, SetRow, count_sets
from trackers.sets.leaderboards.models import Leaderboard
from trackers.sets.period_figures import SET_AGES, default_age
from trackers.sets.periods import Period, TimeSpan
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count

LISTED_KINDS = tuple(kind for kind in RollupKind if kind != RollupKind.ALL)
# Of the others a post's membership is in its text, and the share above usual is not counted.
ABOVE_KINDS = frozenset(ABOVE)
LIST_HOURS = {"24h": 24, "7d": 7 * 24, "30d": 30 * 24}
# Other days are counted at once up to so many posts in both periods, and while there are as few as
# these so is what else would be a list: it takes some 30 ms, and is of now.
MAX_POSTS, _FEW_POSTS = 20_000, 5_000
_LIST_STEP = timedelta(hours=1)
_POSTS = """
    SELECT coalesce(sum(posts), 0) FROM trackers_rollup
    WHERE kind = %(kind)s AND key = 'all' AND quarter >= %(since)s AND quarter < %(until)s
"""


@dataclass(frozen=True, slots=True)
class Listing:
    """The sets of one kind in a period that are highest by any figure."""

    rows: list[SetRow]
    this: TimeSpan
    before: TimeSpan
    old: TimeSpan  # the part whose posts have reached the age
    age: str  # of SET_AGES
    is_made_hourly: bool = False


@dataclass(frozen=True, slots=True)
class TooManyPosts(Exception):
    """To be counted at once."""

    posts: int


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
        rows = _count(kind, *_spans(name, until))
        Leaderboard.objects.update_or_create(
            kind=kind,
            hours=LIST_HOURS[name],
            defaults={"until": until, "rows": [asdict(row) for row in rows]},
        )
        return 1

    return in_pieces("leaderboards", piece, left=lambda: 1, deadline=deadline)


def read_leaderboard(kind: RollupKind, name: str, *, now: datetime) -> Listing | None:
    """The list of one of LIST_HOURS; None: it is not made yet."""
    this, before, old, age = _spans(name, now)
    if _posts_in(before.since, this.until) <= _FEW_POSTS:
        with transaction.atomic():
            return Listing(_count(kind, this, before, old, age), this, before, old, age)
    board = Leaderboard.objects.filter(kind=kind, hours=LIST_HOURS[name]).first()
    if board is None:
        return None
    this, before, old, age = _spans(name, board.until)
    rows = [SetRow(**row) for row in board.rows]
    return Listing(rows, this, before, old, age, is_made_hourly=True)


def count_days(kind: RollupKind, period: Period, *, age: str = "") -> Listing:
    """Of days that somebody chose, at one of SET_AGES or the period's own. Raises TooManyPosts."""
    age = age or default_age(period.name)
    old, _ = period.old_enough(SET_AGES[age])
    posts = _posts_in(period.before.since, period.this.until)
    if posts > MAX_POSTS:
        raise TooManyPosts(posts)
    with transaction.atomic():
        rows = _count(kind, period.this, period.before, old, age)
    return Listing(rows, period.this, period.before, old, age)


def _posts_in(since: datetime, until: datetime) -> int:
    params = {
        "kind": int(RollupKind.ALL), "since": quarter_at(since), "until": quarter_at(until) + 1
    }  # fmt: skip
    return select_count(_POSTS, params)


def _count(
    kind: RollupKind, this: TimeSpan, before: TimeSpan, old: TimeSpan, age: str
) -> list[SetRow]:
    return count_sets(kind, this, before, old, SET_AGES[age])


def _spans(name: str, until: datetime) -> tuple[TimeSpan, TimeSpan, TimeSpan, str]:
    """The hours until then, those before, the part that is old enough at that time, and the age."""
    length, age = LIST_HOURS[name] * _LIST_STEP, default_age(name)
    since = until - length
    return (
        TimeSpan(since, until),
        TimeSpan(since - length, since),
        TimeSpan(since, max(since, until - SET_AGES[age])),
        age,
    )


def _full_hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
