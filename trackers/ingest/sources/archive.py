"""X's full archive: a person has it searched for what X shows nowhere else, if a plan has it.

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
    """What reading the lost gaps would bring: an estimate by what the source brought lately."""

    length: timedelta
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


def why_not(source: Source) -> str:
    """Why the archive cannot be searched for it; empty if it can."""
    if source.paused_at:
        return "It is paused."
    if not searchable(source).exists():
        return "It has no lost gap that X's full archive can fill."
    if source.hidden_reason or _is_protected(source):
        # Nothing found would look like nothing posted.
        return "X shows its posts to no search now: the account is protected, suspended or gone."
    return selection.why_nobody_may(ARCHIVE)


def _is_protected(source: Source) -> bool:
    """Its own tokens may see its posts, and a search does not."""
    return Author.objects.filter(pk=source.account_id or 0, protected=True).exists()


def cost_of_archive(source: Source, *, now: datetime) -> ArchiveCost:
    """Of all its lost gaps, at the highest price that is paid."""
    length = sum(
        (born_at(gap.to_id) - _begins_at(source, gap) for gap in searchable(source)), timedelta(0)
    )
    today = now.astimezone(UTC).date()
    lately = cost_of(days_of(source.pk, since=today - _AVERAGED), today=today)
    if lately is None or not lately.posts:
        return ArchiveCost(length, None, None)
    posts = round(lately.posts / lately.days * (length / _DAY))
    price = Project.objects.aggregate(price=Max("price_of_a_post"))["price"]
    return ArchiveCost(length, posts, None if price is None else posts * price)


def _begins_at(source: Source, gap: Gap) -> datetime:
    """When the oldest post of a gap may have been made."""
    if gap.from_id is not None:
        return born_at(gap.from_id)
    account = source.account_id or 0
    return born_at(account) if account >= _FIRST_DATED_ACCOUNT else BEGAN_AT


def ask_archive(source: Source, *, now: datetime) -> int:
    """Have it searched for all its lost gaps; returns how many there were."""
    return searchable(source).update(archive_asked_at=now, archive_refusal="")


def give_archive_up(source: Source, *, because: str) -> None:
    """X's full archive cannot be asked with any credential: what is left is lost again."""
    source.gaps.filter(closed_at=None, archive_asked_at__isnull=False).update(
        archive_asked_at=None, archive_refusal=because[:300], why=Gap.Why.REACH
    )
