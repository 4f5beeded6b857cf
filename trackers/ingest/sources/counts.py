"""How many posts of the last week a search finds, by X's own count, without reading them.

A person asks ─> a request and its price ─> X counts ─> stored: pages read it at no cost
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.db import IntegrityError
from django.db.models import Max
from django.utils import timezone

from trackers.credentials import selection
from trackers.credentials.preflight import keys_for
from trackers.ingest.sources.models import SearchCount, Source
from trackers.money import ledger
from trackers.money.balances import Balance, read_balances
from trackers.money.models import Project
from trackers.xapi.counts import Counted, count_posts
from trackers.xapi.endpoints import COUNTS
from trackers.xapi.errors import XError

# A call that is repeated within this time gets the same count: a client that lost the answer, or a
# second click, is not billed again.
_COUNTED_AGAIN_AFTER = timedelta(minutes=1)
_NO_MONEY = "Today's budget does not allow it: a count costs ${price:f}."


class NotCountedError(Exception):
    """Why X did not count: a sentence."""


def price_of_a_count() -> Decimal:
    """The highest that is paid, in US dollars."""
    highest = Project.objects.aggregate(price=Max("price_of_a_count"))["price"]
    return Decimal(highest if highest is not None else Project().price_of_a_count)


def count_search(source: Source, *, base_url: str, timeout: timedelta) -> SearchCount:
    """Have X count, in one request, and keep the result; raises NotCountedError."""
    newest = SearchCount.objects.filter(
        source=source, counted_at__gt=timezone.now() - _COUNTED_AGAIN_AFTER
    ).first()
    if newest:
        return newest
    counted, balance = _ask_for_count(source.of, base_url=base_url, timeout=timeout)
    return _keep(source, counted, balance)


def count_query(query: str, *, base_url: str, timeout: timedelta) -> Counted:
    """The same of a search that is no source yet; nothing is kept."""
    counted, _ = _ask_for_count(query, base_url=base_url, timeout=timeout)
    return counted


def _ask_for_count(query: str, *, base_url: str, timeout: timedelta) -> tuple[Counted, Balance]:
    selected, balance = _reserve_count()
    try:
        with keys_for(selected, base_url=base_url, timeout=timeout) as keys:
            counted = count_posts(keys, query, base_url=base_url, timeout=timeout)
    except XError as error:
        selection.settle_failed(selected, error)
        ledger.settle_count(balance, is_billed=error.maybe_billed)
        raise NotCountedError(f"X did not count: {error.reason}") from error
    selection.settle_answered(selected, counted.window)
    ledger.settle_count(balance, is_billed=True)
    return counted, balance


def _reserve_count() -> tuple[selection.Selection, Balance]:
    """A request of the first project that can, and the money for it."""
    shut = []
    for balance in (one for one in read_balances() if one.usable):
        selected = selection.select_credential(COUNTS, project=balance.project)
        if not isinstance(selected, selection.Selection):
            shut.append(selected.why)
        elif ledger.reserve_count(balance):
            return selected, balance
        else:
            selection.cancel(selected)
            price = Project.objects.get(pk=balance.project).price_of_a_count
            shut.append(_NO_MONEY.format(price=price.normalize()))
    if not shut:
        selected = selection.select_credential(COUNTS)
        if isinstance(selected, selection.Selection):
            selection.cancel(selected)
            shut.append("A credential was enabled just now.")
        else:
            shut.append(selected.why)
    raise NotCountedError(shut[0])


def _keep(source: Source, counted: Counted, balance: Balance) -> SearchCount:
    """Keep the count instead of the one before."""
    if not counted.hours:
        raise NotCountedError("X counted no hours.")
    project = Project.objects.get(pk=balance.project)
    try:
        kept, _ = SearchCount.objects.update_or_create(
            source=source,
            defaults={
                "counted_at": timezone.now(),
                "since": counted.hours[0].since,
                "until": counted.hours[-1].until,
                "posts": counted.posts,
                "by_hour": [hour.posts for hour in counted.hours],
                "money": project.price_of_a_count,
            },
        )
    except IntegrityError as error:
        raise NotCountedError(f"X counted {counted.posts:,} posts, but it was removed.") from error
    return kept
