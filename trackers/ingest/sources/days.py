"""What each source brought on each UTC day, and what X billed for it: a row a source and day.

Written in the transaction that stores the posts, so a page never counts them. X bills each new post
of the stream; a file costs nothing. What was billed for a failed request appears only in the
project's spending.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from trackers.ingest.sources.models import SourceDay
from trackers.money.balances import PRICE
from tweetwatch.database import array, cursor

_KEPT_FOR = timedelta(days=92)


# Locks: rows of sources that the caller has locked already, in the order of their ids.
_COUNT = f"""
    INSERT INTO trackers_sourceday AS d (source_id, day, posts, again, late, billed, money)
    SELECT n.id, %(day)s::date, n.posts, n.again, n.late, n.billed,
           n.billed * coalesce((SELECT {PRICE} FROM trackers_project p
                                WHERE p.id = %(project)s::bigint), 0)
    FROM unnest(%(ids)s::bigint[], %(posts)s::bigint[], %(again)s::bigint[], %(late)s::bigint[],
                %(billed)s::bigint[]) AS n(id, posts, again, late, billed)
    ORDER BY n.id
    ON CONFLICT (source_id, day) DO UPDATE SET
        posts = d.posts + excluded.posts, again = d.again + excluded.again,
        late = d.late + excluded.late, billed = d.billed + excluded.billed,
        money = d.money + excluded.money
"""
_PRUNE_DAYS = "DELETE FROM trackers_sourceday WHERE day < %(before)s"


@dataclass(frozen=True, slots=True)
class Brought:
    """What a source brought just now."""

    source: int
    posts: int
    again: int
    late: int = 0
    billed: int = 0


def count_brought(
    brought: list[Brought], *, day: date, project: int | None, is_owned: bool = False
) -> None:
    """Add this to the day's rows. `project`: who pays; None where nothing is billed. `is_owned`: X
    bills them as owned reads."""
    with cursor() as db:
        db.execute(
            _COUNT,
            {
                "day": day,
                "project": project,
                "is_owned": is_owned,
                "ids": array(one.source for one in brought),
                "posts": array(one.posts for one in brought),
                "again": array(one.again for one in brought),
                "late": array(one.late for one in brought),
                "billed": array(one.billed for one in brought),
            },
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """`a_post`: dollars for each new post."""

    days: int  # the last so many, including today
    posts: int
    billed: int
    money: Decimal

    @property
    def a_day(self) -> Decimal:
        return self.money / self.days

    @property
    def a_post(self) -> Decimal | None:
        return self.money / self.posts if self.posts else None


def days_of(source_id: int, *, since: date) -> list[SourceDay]:
    """Oldest first; days on which it brought nothing are left out."""
    return list(SourceDay.objects.filter(source=source_id, day__gte=since).order_by("day"))


def cost_of(days: list[SourceDay], *, today: date) -> Cost | None:
    """None before its first day."""
    if not days:
        return None
    return Cost(
        days=(today - days[0].day).days + 1,
        posts=sum(one.posts for one in days),
        billed=sum(one.billed for one in days),
        money=sum((one.money for one in days), Decimal(0)),
    )


def prune_days(*, today: date) -> int:
    with cursor() as db:
        return db.execute(_PRUNE_DAYS, {"before": today - _KEPT_FOR}).rowcount
