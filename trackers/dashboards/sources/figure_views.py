"""What a source brought by day, what it cost, and how its posts do: the slow part of its page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from django.http import Http404

from trackers.dashboards.daily import daily, first_day
from trackers.dashboards.usual import COMPARED, usual
from trackers.dashboards.words import counted
from trackers.ingest.sources.days import Cost, SourceDay, cost_of, days_of
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.tweets.growth.earlier import of_these
from trackers.tweets.models import Author


@dataclass(frozen=True, slots=True)
class CostWords:
    """`over`: the days that it is the average of."""

    a_day: str
    a_post: str
    billed: str
    money: str
    over: str


def find(id: int) -> Source:
    try:
        return Source.objects.get(pk=id)
    except (Source.DoesNotExist, OverflowError):
        raise Http404(f"There is no source {id}.") from None


def figures(source: Source, *, now: datetime) -> dict[str, object]:
    today = now.astimezone(UTC).date()
    found = days_of(source.pk, since=first_day(today))
    newest = SourceTweet.objects.filter(source=source).order_by("-tweet_id")
    ids = list(newest.values_list("tweet_id", flat=True)[:COMPARED])
    return {
        "author": author_of(source),
        "days": daily({one.day: one.posts for one in found}, today=today, what="New posts"),
        "cost": cost_words(found, today=today),
        "usual": usual(of_these(ids), now=now),
    }


def author_of(source: Source) -> Author | None:
    """The account whose posts it reads, if it is only one and any post has come."""
    if source.kind != Source.Kind.ACCOUNT or source.account_id is None:
        return None
    return Author.objects.filter(pk=source.account_id).first()


def cost_words(found: list[SourceDay], *, today: date) -> CostWords | None:
    cost: Cost | None = cost_of(found, today=today)
    if cost is None:
        return None
    return CostWords(
        a_day=fine(cost.a_day),
        a_post="–" if cost.a_post is None else fine(cost.a_post),
        billed=counted(cost.billed),
        money=fine(cost.money),
        over="today" if cost.days == 1 else f"in the last {cost.days} days",
    )


def fine(amount: Decimal) -> str:
    """To a hundredth of a cent below a dollar: a post costs half a cent."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}" if amount else "$0"
