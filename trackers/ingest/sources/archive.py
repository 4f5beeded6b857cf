"""X's full archive: a person has it searched for what X shows nowhere else, if a plan has it.

lost gap ─ the question, with its cost ─> asked for ─> read with `until_id`, as others are ─> filled
                                              └─> X refuses it: lost again, and why
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.db.models import Max

from trackers.credentials import selection
from trackers.ingest.sources.days import cost_of, days_of
from trackers.ingest.sources.models import Gap, GapQuerySet, Source
from trackers.money.models import Project
from trackers.tweets.models import Author
from trackers.tweets.snowflake import born_at
from trackers.xapi.endpoints import ARCHIVE
from trackers.xapi.page import BEGAN_AT

# The kinds whose posts a query finds.
SEARCHED = (Source.Kind.SEARCH, Source.Kind.STREAM, Source.Kind.ACCOUNT)
# Ids of accounts have carried their time since 2016; those before were counted, up to some 10^10.
_FIRST_DATED_ACCOUNT = 10**15
_DAY = timedelta(days=1)
# How far back a source's own average goes.
_AVERAGED = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class ArchiveCost:
    """What reading the lost gaps would bring: counted by X, or an estimate by what the source
    brought lately."""

    length: timedelta
    is_counted: bool
    posts: int | None  # None: nothing to estimate by
    money: Decimal | None


def query_of(source: Source) -> str:
    """The query that finds its posts; of an account by its number, since a name may change hands.

    X reads both after `from:` (twarc has asked so for years). Its timeline leaves the same out.
    """
    if source.kind != Source.Kind.ACCOUNT:
        return source.of
    left_out = {"-is:reply": source.exclude_replies, "-is:retweet": source.exclude_retweets}
    return " ".join([f"from:{source.account_id}", *(term for term in left_out if left_out[term])])


def can_fill(source: Source, gap: Gap) -> bool:
    """Whether a search of the archive can fill a lost gap.

    All that words have ever found is more than anybody means; what an account posted is not.
    """
    return source.kind in SEARCHED and (gap.from_id is not None or _has_beginning(source))


def searchable(source: Source) -> GapQuerySet:
    """Lost gaps of the source that the archive can fill, and that it is not asked for yet."""
    if source.kind not in SEARCHED:
        return source.gaps.none()
    lost = source.gaps.lost().filter(archive_asked_at=None)
    return lost if _has_beginning(source) else lost.filter(from_id__isnull=False)


def _has_beginning(source: Source) -> bool:
    return source.kind == Source.Kind.ACCOUNT


def why_not(source: Source, endpoint: Mapping[str, str] = ARCHIVE) -> str:
    """Why the archive cannot be asked about it there; empty if it can."""
    if source.paused_at:
        return "It is paused."
    if not searchable(source).exists():
        return "It has no lost gap that X's full archive can fill."
    if source.hidden_reason or _is_protected(source):
        # Nothing found would look like nothing posted.
        return "X shows its posts to no search now: the account is protected, suspended or gone."
    return selection.why_nobody_may(endpoint)


def _is_protected(source: Source) -> bool:
    """Its own tokens may see its posts, and a search does not."""
    return Author.objects.filter(pk=source.account_id or 0, protected=True).exists()


def cost_of_archive(source: Source, *, now: datetime) -> ArchiveCost:
    """Of all its lost gaps, at the highest price that is paid."""
    gaps = list(searchable(source))
    length = sum((born_at(gap.to_id) - begins_at(source, gap) for gap in gaps), timedelta(0))
    uncounted = sum((uncounted_of(source, gap) for gap in gaps), timedelta(0))
    posts: int | None = sum(gap.counted or 0 for gap in gaps)
    if uncounted:
        posts = _as_lately(source, posts or 0, uncounted, now=now)
    price = Project.objects.aggregate(price=Max("price_of_a_post"))["price"]
    money = None if price is None or posts is None else posts * price
    return ArchiveCost(length, not uncounted, posts, money)


def _as_lately(source: Source, counted: int, length: timedelta, *, now: datetime) -> int | None:
    """What was counted, and for the rest what comes in such a time by the last 30 days."""
    today = now.astimezone(UTC).date()
    lately = cost_of(days_of(source.pk, since=today - _AVERAGED), today=today)
    if lately is None or not lately.posts:
        return None
    return counted + round(lately.posts / lately.days * (length / _DAY))


def uncounted_of(source: Source, gap: Gap) -> timedelta:
    """How much of a gap X has not counted."""
    return (gap.counted_from or born_at(gap.to_id)) - begins_at(source, gap)


def begins_at(source: Source, gap: Gap) -> datetime:
    """When the oldest post of a gap may have been made."""
    if gap.from_id is not None:
        return born_at(gap.from_id)
    account = source.account_id or 0
    made_at = born_at(account) if account >= _FIRST_DATED_ACCOUNT else BEGAN_AT
    return min(made_at, born_at(gap.to_id))


def ask_archive(source: Source, *, now: datetime) -> int:
    """Have it searched for all its lost gaps; returns how many there were."""
    return searchable(source).update(archive_asked_at=now, archive_refusal="")


def give_archive_up(source: Source, *, because: str) -> None:
    """X's full archive cannot be asked with any credential: what is left is lost again."""
    source.gaps.filter(closed_at=None, archive_asked_at__isnull=False).update(
        archive_asked_at=None, archive_refusal=because[:300], why=Gap.Why.REACH
    )
