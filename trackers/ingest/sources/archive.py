"""X's full archive: a person has it searched for what a search or a rule lost, if a plan has it.

lost gap ─ the question, with its cost ─> asked for ─> read with `until_id`, as others are ─> filled
                                              └─> X refuses it: lost again, and why
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.db.models import Max

from trackers.credentials import selection
from trackers.ingest.sources.days import cost_of, days_of
from trackers.ingest.sources.models import Gap, GapQuerySet, Source
from trackers.money.models import Project
from trackers.tweets.snowflake import born_at
from trackers.xapi.endpoints import ARCHIVE

# The kinds whose posts a query finds.
SEARCHED = (Source.Kind.SEARCH, Source.Kind.STREAM)
_DAY = timedelta(days=1)
# How far back a source's own average goes.
_AVERAGED = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class ArchiveCost:
    """What reading the lost gaps would bring: an estimate by what the source brought lately."""

    length: timedelta
    posts: int | None  # None: nothing to estimate by
    money: Decimal | None


def searchable(source: Source) -> GapQuerySet:
    """Lost gaps of the source that the archive may fill, and that it is not asked for yet.

    Without a lower bound it would go back thirty days, and look like all there is.
    """
    if source.kind not in SEARCHED:
        return source.gaps.none()
    return source.gaps.lost().filter(archive_asked_at=None, from_id__isnull=False)


def why_not(source: Source) -> str:
    """Why the archive cannot be searched for it; empty if it can."""
    if source.paused_at:
        return "It is paused."
    if not searchable(source).exists():
        return "It has no lost gap that X's full archive can fill."
    return selection.why_nobody_may(ARCHIVE)


def cost_of_archive(source: Source, *, now: datetime) -> ArchiveCost:
    """Of all its lost gaps, at the highest price that is paid."""
    length = sum(
        (born_at(gap.to_id) - born_at(gap.from_id or gap.to_id) for gap in searchable(source)),
        timedelta(0),
    )
    today = now.astimezone(UTC).date()
    lately = cost_of(days_of(source.pk, since=today - _AVERAGED), today=today)
    if lately is None or not lately.posts:
        return ArchiveCost(length, None, None)
    posts = round(lately.posts / lately.days * (length / _DAY))
    price = Project.objects.aggregate(price=Max("price_of_a_post"))["price"]
    return ArchiveCost(length, posts, None if price is None else posts * price)


def ask_archive(source: Source, *, now: datetime) -> int:
    """Have it searched for all its lost gaps; returns how many there were."""
    return searchable(source).update(archive_asked_at=now, archive_refusal="")


def give_archive_up(source: Source, *, because: str) -> None:
    """X's full archive cannot be asked with any credential: what is left is lost again."""
    source.gaps.filter(closed_at=None, archive_asked_at__isnull=False).update(
        archive_asked_at=None, archive_refusal=because[:300], why=Gap.Why.REACH
    )
