"""Lists that are scrolled by anchors, in a page or a column.

anchors ─> ScrolledList ─> ids ─> rows of tweets, with a link at the end that loads the next ones
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect

from trackers.dashboards.parts import part_of
from trackers.dashboards.scrolled_lists import EMPTY_PAGE, MAX_NEW, ScrolledList
from trackers.dashboards.tweet_rows import tweet_rows
from trackers.dashboards.words import commas
from trackers.schedule.intervals import Plan, current
from trackers.timelines.homes.page import Embedded, Page
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID

# At most this many new rows are inserted at once; for more, the page is reloaded.
_MAX_INSERTED = 100
_MAX_VISIBLE = 100
_SCROLL_TEMPLATE = "dashboards/_scroll.html"
_NO_ANCHOR = "A page is before a tweet or after one, by its id."


@dataclass(frozen=True, slots=True)
class ScrollSettings:
    """A scrolled page's address, the prefix of its rows' ids, and its number of rows per page."""

    here: str
    prefix: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class NewBanner:
    """ "12 new, 3 of them late"."""

    new: str
    late: int
    ids: str  # inserted on a press; empty if that reloads the page
    late_ids: str


def scroll_context(
    scrolled: ScrolledList,
    settings: ScrollSettings,
    query: QueryDict,
    *,
    read: tuple[datetime, Plan] | None = None,
) -> dict[str, object]:
    """Everything that a page shows of it. `read`: the time and the plan, if the page has them."""
    before, after = _anchors(query)
    with _nonsense_is_404():
        page = scrolled.page(limit=settings.limit, before=before, after=after)
    return {
        **_rows_context(scrolled, settings, page.ids, page.embedded, read=read),
        "page": page,
        "older": page.older,
        "top": page.ids[0] if page.ids else "",
        "anchored": before is not None or after is not None,
    }


def part_response(
    request: HttpRequest, scrolled: ScrolledList, settings: ScrollSettings
) -> HttpResponse | None:
    """What the request asks for of the list alone, by the name of the part; None for the page."""
    match part_of(request):
        case "rows":
            return _older_rows(request, scrolled, settings)
        case "now":
            return _visible_rows(request, scrolled, settings)
        case "new":
            return _new_rows(request, scrolled, settings)
        case _:
            return None


def _older_rows(
    request: HttpRequest, scrolled: ScrolledList, settings: ScrollSettings
) -> HttpResponse:
    before, after = _anchors(request.GET)
    with _nonsense_is_404():
        page = scrolled.page(limit=settings.limit, before=before, after=after)
    context = {**_rows_context(scrolled, settings, page.ids, page.embedded), "older": page.older}
    return render(request, f"{_SCROLL_TEMPLATE}#rows", context)


def _visible_rows(
    request: HttpRequest, scrolled: ScrolledList, settings: ScrollSettings
) -> HttpResponse:
    """The rows in view as they are now, which of them are gone, and how many are new."""
    asked = _visible_ids(request.GET.get("ids", ""))
    there = scrolled.among(asked)
    context = {
        **_rows_context(scrolled, settings, there, scrolled.embedded(there)),
        "gone": sorted(set(asked) - set(there)),
        "news": _new_banner(_newer_than(scrolled, request.GET)),
        "top": request.GET.get("top"),
    }
    return render(request, f"{_SCROLL_TEMPLATE}#now", context)


def _new_rows(
    request: HttpRequest, scrolled: ScrolledList, settings: ScrollSettings
) -> HttpResponse:
    """The rows that are new; the script inserts each in its place."""
    page = _newer_than(scrolled, request.GET)
    if len(page.ids) > _MAX_INSERTED:
        return HttpResponseClientRedirect(settings.here)
    context = {
        **_rows_context(scrolled, settings, page.ids, page.embedded, late=page.late),
        "page": page,
    }
    return render(request, f"{_SCROLL_TEMPLATE}#new", context)


def _newer_than(scrolled: ScrolledList, query: QueryDict) -> Page:
    """Nothing for a page without a clock, which does not begin with the newest."""
    top, clock = _anchor_id(query.get("top", "")), query.get("clock", "")
    with _nonsense_is_404():
        return scrolled.since(top, clock) if clock else EMPTY_PAGE


def _new_banner(page: Page) -> NewBanner | None:
    if not page.ids:
        return None
    some = page.ids if len(page.ids) <= _MAX_INSERTED else ()
    return NewBanner(
        f"more than {commas(MAX_NEW)}" if page.older else commas(len(page.ids)),
        len(page.late),
        " ".join(map(str, some)),
        " ".join(map(str, page.late)) if some else "",
    )


def _rows_context(
    scrolled: ScrolledList,
    settings: ScrollSettings,
    ids: Iterable[int],
    embedded: Mapping[int, Embedded],
    *,
    late: Iterable[int] = (),
    read: tuple[datetime, Plan] | None = None,
) -> dict[str, object]:
    at, plan = read or current()
    tweets_by_id = Tweet.objects.select_related("author", "tweettext").in_bulk(list(ids))
    tweets = [tweets_by_id[id] for id in ids if id in tweets_by_id]
    came_late = {*late, *(scrolled.late([tweet.pk for tweet in tweets]) if tweets else ())}
    return {
        "now": at,
        "look": settings,
        "prefix": settings.prefix,
        "rows": tweet_rows(tweets, plan, now=at, embedded=embedded) if tweets else [],
        "came_late": {str(id) for id in came_late},
        "labels": LABELS.values(),
    }


def _anchors(query: QueryDict) -> tuple[int | None, int | None]:
    """404 for an invalid anchor."""
    before, after = (_anchor_id(query.get(name, "")) for name in ("before", "after"))
    if before is not None and after is not None:
        raise Http404(_NO_ANCHOR)
    return before, after


def _anchor_id(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > LARGEST_ID:
        raise Http404(f"{text[:80]!r} is not the id of a tweet.")
    return int(text)


def _visible_ids(text: str) -> list[int]:
    ids = [id for part in text.split(",") if (id := _anchor_id(part)) is not None]
    if len(ids) > _MAX_VISIBLE:
        raise Http404(f"More than {_MAX_VISIBLE} rows are not asked for at once.")
    return ids


@contextmanager
def _nonsense_is_404() -> Iterator[None]:
    """A request that makes no sense is a 404."""
    try:
        yield
    except (ValueError, LookupError) as error:
        raise Http404(str(error)) from error
