"""A scrolled page, and what its script asks for: older rows, those in view, new ones.

anchors ─> Scrolled ─> ids ─> rows of tweets, with a link at the end that loads the next ones
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect

from trackers.dashboards.parts import part_of
from trackers.dashboards.scrolled import NEW_MOST, NOTHING, Scrolled
from trackers.dashboards.tweet_rows import LABELS, rows
from trackers.dashboards.words import counted
from trackers.schedule.intervals import current
from trackers.timelines.homes.page import Embedded, Page
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID

# At most this many new rows are inserted at once; for more, the page is reloaded.
PUT_IN_MOST = 100
IN_SIGHT_MOST = 100
TEMPLATE = "dashboards/_scroll.html"
NO_ANCHOR = "A page is before a tweet or after one, by its id."


@dataclass(frozen=True, slots=True)
class Look:
    """A scrolled page's address, the prefix of its rows' ids, and its number of rows per page."""

    here: str
    prefix: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class News:
    """ "12 new, 3 of them late". `ids` to insert on a press; empty if that reloads the page."""

    new: str
    late: int
    ids: str
    late_ids: str


def whole(scrolled: Scrolled, look: Look, query: QueryDict) -> dict[str, object]:
    """Everything that a page shows of it."""
    before, after = anchors(query)
    with understood():
        page = scrolled.page(limit=look.limit, before=before, after=after)
    return {
        **told(scrolled, look, page.ids, page.embedded),
        "page": page,
        "older": page.older,
        "top": page.ids[0] if page.ids else "",
        "anchored": before is not None or after is not None,
    }


def part(request: HttpRequest, scrolled: Scrolled, look: Look) -> HttpResponse | None:
    """What the request asks for of the list alone, by the name of the part; None for the page."""
    match part_of(request):
        case "rows":
            return older_rows(request, scrolled, look)
        case "now":
            return now(request, scrolled, look)
        case "new":
            return new(request, scrolled, look)
        case _:
            return None


def older_rows(request: HttpRequest, scrolled: Scrolled, look: Look) -> HttpResponse:
    before, after = anchors(request.GET)
    with understood():
        page = scrolled.page(limit=look.limit, before=before, after=after)
    shown = {**told(scrolled, look, page.ids, page.embedded), "older": page.older}
    return render(request, f"{TEMPLATE}#rows", shown)


def now(request: HttpRequest, scrolled: Scrolled, look: Look) -> HttpResponse:
    """The rows in view as they are now, which of them are gone, and how many are new."""
    asked = listed(request.GET.get("ids", ""))
    there = scrolled.among(asked)
    shown = {
        **told(scrolled, look, there, scrolled.embedded(there)),
        "gone": sorted(set(asked) - set(there)),
        "news": news(came(scrolled, request.GET)),
        "top": request.GET.get("top"),
    }
    return render(request, f"{TEMPLATE}#now", shown)


def new(request: HttpRequest, scrolled: Scrolled, look: Look) -> HttpResponse:
    """The rows that are new; the script inserts each in its place."""
    page = came(scrolled, request.GET)
    if len(page.ids) > PUT_IN_MOST:
        return HttpResponseClientRedirect(look.here)
    shown = {**told(scrolled, look, page.ids, page.embedded, late=page.late), "page": page}
    return render(request, f"{TEMPLATE}#new", shown)


def came(scrolled: Scrolled, query: QueryDict) -> Page:
    """Nothing for a page without a clock, which does not begin with the newest."""
    top, clock = an_id(query.get("top", "")), query.get("clock", "")
    with understood():
        return scrolled.since(top, clock) if clock else NOTHING


def news(page: Page) -> News | None:
    if not page.ids:
        return None
    some = page.ids if len(page.ids) <= PUT_IN_MOST else ()
    return News(
        f"more than {counted(NEW_MOST)}" if page.older else counted(len(page.ids)),
        len(page.late),
        " ".join(map(str, some)),
        " ".join(map(str, page.late)) if some else "",
    )


def told(
    scrolled: Scrolled,
    look: Look,
    ids: Iterable[int],
    embedded: Mapping[int, Embedded],
    *,
    late: Iterable[int] = (),
) -> dict[str, object]:
    at, plan = current()
    found = Tweet.objects.select_related("author", "tweettext").in_bulk(list(ids))
    tweets = [found[id] for id in ids if id in found]
    came_late = {*late, *(scrolled.late([one.pk for one in tweets]) if tweets else ())}
    return {
        "now": at,
        "look": look,
        "prefix": look.prefix,
        "rows": rows(tweets, plan, now=at, embedded=embedded) if tweets else [],
        "came_late": {str(id) for id in came_late},
        "labels": LABELS.values(),
    }


def anchors(query: QueryDict) -> tuple[int | None, int | None]:
    """404 for an invalid anchor."""
    before, after = (an_id(query.get(name, "")) for name in ("before", "after"))
    if before is not None and after is not None:
        raise Http404(NO_ANCHOR)
    return before, after


def an_id(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > LARGEST_ID:
        raise Http404(f"{text[:80]!r} is not the id of a tweet.")
    return int(text)


def listed(text: str) -> list[int]:
    ids = [id for part in text.split(",") if (id := an_id(part)) is not None]
    if len(ids) > IN_SIGHT_MOST:
        raise Http404(f"More than {IN_SIGHT_MOST} rows are not asked for at once.")
    return ids


@contextmanager
def understood() -> Iterator[None]:
    """A request that makes no sense is a 404."""
    try:
        yield
    except (ValueError, LookupError) as error:
        raise Http404(str(error)) from error
