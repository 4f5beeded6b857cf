"""How many posts a search finds in a week, or a lost gap has, by X's own count, without reading.

A person asks ─> requests and their price ─> X counts ─> stored: pages read it at no cost
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from math import ceil
from typing import Any

from django.core.cache import cache
from django.db import IntegrityError
from django.db.models import Max
from django.utils import timezone

from trackers.credentials import selection
from trackers.credentials.preflight import keys_for
from trackers.ingest.sources.archive import begins_at, query_of, searchable, uncounted_of
from trackers.ingest.sources.models import Gap, SearchCount, Source
from trackers.money import ledger
from trackers.money.balances import Balance, read_balances
from trackers.money.models import Project
from trackers.tweets.snowflake import born_at
from trackers.xapi.counts import Counted, count_archived, count_posts
from trackers.xapi.endpoints import ARCHIVE_COUNTS, COUNTS
from trackers.xapi.errors import XError
from trackers.xapi.keys import Keys

# A call that is repeated within this time gets the same count: a client that lost the answer, or a
# second click, is not billed again.
_COUNTED_AGAIN_AFTER = timedelta(minutes=1)
# Of a search that is no source yet; if it becomes one, the count is the source's.
_REMEMBERED_FOR = timedelta(minutes=15)
_ASKED_NOW = "X is being asked for this count at this moment. Ask again in a few seconds."
_NO_MONEY = "Today's budget does not allow it: a count costs ${price:f}."
# X counts the archive in pages of so many days, each of which it bills.
_PAGE = timedelta(days=30)
# A person waits for it: a year, and not for ever. Asked again, it goes on where it stopped.
MOST_REQUESTS, _LONGEST = 12, timedelta(seconds=20)


class NotCountedError(Exception):
    """Why X did not count: a sentence."""


def price_of_a_count(*, of_archive: bool = False) -> Decimal:
    """The highest that is paid, in US dollars."""
    name = _price_name(of_archive=of_archive)
    highest = Project.objects.aggregate(price=Max(name))["price"]
    return Decimal(highest if highest is not None else getattr(Project(), name))


def _price_name(*, of_archive: bool) -> str:
    return "price_of_an_archive_count" if of_archive else "price_of_a_count"


def count_search(source: Source, *, base_url: str, timeout: timedelta) -> SearchCount:
    """Have X count, in one request, and keep the result; raises NotCountedError."""
    newest = SearchCount.objects.filter(
        source=source, counted_at__gt=timezone.now() - _COUNTED_AGAIN_AFTER
    ).first()
    if newest:
        return newest
    count = _count_of(source.of, base_url=base_url, timeout=timeout)
    try:
        kept, _ = SearchCount.objects.update_or_create(source=source, defaults=count)
    except IntegrityError as error:
        why = f"X counted {count['posts']:,} posts, but it was removed."
        raise NotCountedError(why) from error
    return kept


def count_query(query: str, *, base_url: str, timeout: timedelta) -> SearchCount:
    """The same of a search that is no source yet, remembered for a quarter of an hour."""
    if newest := remembered_count(query):
        return newest
    count = _count_of(query, base_url=base_url, timeout=timeout)
    cache.set(_name_of(query), count, _REMEMBERED_FOR.total_seconds())
    return SearchCount(**count)


def remembered_count(query: str) -> SearchCount | None:
    """That of a search that was no source when X counted it."""
    count = cache.get(_name_of(query))
    return SearchCount(**count) if count else None


def keep_remembered(source: Source) -> None:
    """The search that was counted has become a source."""
    if count := cache.get(_name_of(source.of)):
        SearchCount.objects.get_or_create(source=source, defaults=count)


def _name_of(query: str) -> str:
    """In the cache, whose keys are short."""
    return f"count:{sha256(query.encode()).hexdigest()}"


def _count_of(query: str, *, base_url: str, timeout: timedelta) -> dict[str, Any]:
    """The fields of a SearchCount. Of two who ask at once one is billed, and the other is told."""
    claim = f"{_name_of(query)}:asked"
    if not cache.add(claim, True, 2 * timeout.total_seconds()):
        raise NotCountedError(_ASKED_NOW)
    try:
        counted, balance = _ask_for_count(
            lambda keys: count_posts(keys, query, base_url=base_url, timeout=timeout),
            base_url=base_url,
            timeout=timeout,
        )
    finally:
        cache.delete(claim)
    if not counted.spans:
        raise NotCountedError("X counted no hours.")
    return {
        "counted_at": timezone.now(),
        "since": counted.spans[0].since,
        "until": counted.spans[-1].until,
        "posts": counted.posts,
        "by_hour": [hour.posts for hour in counted.spans],
        "money": Project.objects.get(pk=balance.project).price_of_a_count,
    }


def requests_to_count(source: Source) -> int:
    """How often X has to be asked to count all lost gaps, as far as it has not."""
    return sum(ceil(uncounted_of(source, gap) / _PAGE) for gap in searchable(source))


def posts_counted(source: Source) -> int:
    """In its lost gaps, as far as X has counted them."""
    return sum(gap.counted or 0 for gap in searchable(source))


def count_gaps(source: Source, *, base_url: str, timeout: timedelta) -> None:
    """Have X count posts of its lost gaps, the newest first; raises NotCountedError.

    Each page is kept as it comes, so that nothing is paid for twice.
    """
    stops_at = time.monotonic() + _LONGEST.total_seconds()
    for _ in range(MOST_REQUESTS):
        gaps = (gap for gap in searchable(source).order_by("-to_id") if uncounted_of(source, gap))
        gap = next(gaps, None)
        if gap is None or time.monotonic() >= stops_at:
            return
        _count_page(source, gap, base_url=base_url, timeout=timeout)


def _count_page(source: Source, gap: Gap, *, base_url: str, timeout: timedelta) -> None:
    """The next older page of a gap."""
    begin, end = begins_at(source, gap), gap.counted_from or born_at(gap.to_id)
    query = query_of(source)
    counted, _ = _ask_for_count(
        lambda keys: count_archived(keys, query, begin, end, base_url=base_url, timeout=timeout),
        base_url=base_url,
        timeout=timeout,
        of_archive=True,
    )
    # Without any data there is nothing older either.
    down_to = max(begin, counted.spans[0].since) if counted.spans else begin
    if down_to >= end:
        raise NotCountedError("X counted another time than it was asked for.")
    unchanged = Gap.objects.filter(
        pk=gap.pk, to_id=gap.to_id, from_id=gap.from_id, counted_from=gap.counted_from
    )
    if not unchanged.update(counted=(gap.counted or 0) + counted.posts, counted_from=down_to):
        raise NotCountedError("It was changed while X counted.")


def _ask_for_count(
    ask: Callable[[Keys], Counted],
    *,
    base_url: str,
    timeout: timedelta,
    of_archive: bool = False,
) -> tuple[Counted, Balance]:
    selected, balance = _reserve_count(of_archive=of_archive)
    try:
        with keys_for(selected, base_url=base_url, timeout=timeout) as keys:
            counted = ask(keys)
    except XError as error:
        selection.settle_failed(selected, error)
        ledger.settle_count(balance, is_billed=error.maybe_billed, of_archive=of_archive)
        raise NotCountedError(f"X did not count: {error.reason}") from error
    selection.settle_answered(selected, counted.window)
    ledger.settle_count(balance, is_billed=True, of_archive=of_archive)
    return counted, balance


def _reserve_count(*, of_archive: bool) -> tuple[selection.Selection, Balance]:
    """A request of the first project that can, and the money for it."""
    endpoint = ARCHIVE_COUNTS if of_archive else COUNTS
    shut = []
    for balance in (one for one in read_balances() if one.usable):
        selected = selection.select_credential(endpoint, project=balance.project)
        if not isinstance(selected, selection.Selection):
            shut.append(selected.why)
        elif ledger.reserve_count(balance, of_archive=of_archive):
            return selected, balance
        else:
            selection.cancel(selected)
            project = Project.objects.get(pk=balance.project)
            price: Decimal = getattr(project, _price_name(of_archive=of_archive))
            shut.append(_NO_MONEY.format(price=price.normalize()))
    if not shut:
        selected = selection.select_credential(endpoint)
        if isinstance(selected, selection.Selection):
            selection.cancel(selected)
            shut.append("A credential was enabled just now.")
        else:
            shut.append(selected.why)
    raise NotCountedError(shut[0])
