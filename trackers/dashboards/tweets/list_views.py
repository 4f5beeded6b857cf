"""The page of tweets, and its rows alone, for polling."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.tweet_rows import LABELS, rows
from trackers.dashboards.tweets.gains import gain_cell
from trackers.dashboards.tweets.headings import headings, orders
from trackers.dashboards.tweets.saved import SavedView
from trackers.dashboards.words import counted
from trackers.ingest.sources.models import Source
from trackers.listing.patience import Busy, GivenUp, turn
from trackers.listing.search import COUNTED_MOST, Page, counted_all, page
from trackers.listing.sorts import UNSORTED, sorted_page
from trackers.listing.wanted import AGES, COLUMNS, NEWEST, Wanted, wanted
from trackers.schedule.intervals import Plan, current
from trackers.tweets.tags.names import named, offered
from trackers.tweets.tags.tagging import tags_of
from trackers.updater.states import STATES
from tweetwatch.bounded import TookTooLong

TOO_LONG = (
    "This search took longer than a second and was stopped. Use more or longer words, or "
    "choose a state."
)
BUSY = "Too many searches are running. Try again in a second."
# nginx's status code; only the log will see it.
CLOSED_BY_CLIENT = 499
# To choose from; the page of each source leads to its tweets.
SOURCES_MOST = 200


@require_safe
@needs(TWEETS)
def tweets(request: HttpRequest) -> HttpResponse:
    asked = wanted(request.GET)
    now, plan = current()
    try:
        found = found_for(request, asked, now=now)
    except GivenUp:
        return HttpResponse(status=CLOSED_BY_CLIENT)
    except TookTooLong:
        found = Page([], note=TOO_LONG)
    except Busy:
        found = Page([], note=BUSY)
    shown = {**listed(asked, found, plan, now=now), **around(request, asked, found)}
    response = render(request, "dashboards/tweets/list.html", shown)
    # The form sends its empty fields, too.
    response["HX-Replace-Url"] = f"{request.path}?{asked.here}" if asked.here else request.path
    return response


@require_safe
@needs(TWEETS)
def tweet_rows(request: HttpRequest) -> HttpResponse:
    asked = wanted(request.GET)
    now, plan = current()
    try:
        found = found_for(request, asked, now=now)
    except GivenUp:
        return HttpResponse(status=CLOSED_BY_CLIENT)
    except (TookTooLong, Busy):
        # The rows stay as they are until the next poll.
        return HttpResponse(status=204)
    return render(request, "dashboards/_tweet_rows.html", listed(asked, found, plan, now=now))


def found_for(request: HttpRequest, asked: Wanted, *, now: datetime) -> Page:
    if not asked.narrowed and asked.sort == NEWEST:
        return page(asked, now=now)
    with turn(request):
        return answered(asked, now=now)


def answered(asked: Wanted, *, now: datetime) -> Page:
    """Newest first if the requested order is not available."""
    if asked.sort == NEWEST:
        return page(asked, now=now)
    if found := sorted_page(asked, now=now):
        return found
    newest = page(replace(asked, sort=NEWEST), now=now)
    return replace(newest, note=UNSORTED)


def listed(asked: Wanted, found: Page, plan: Plan, *, now: datetime) -> dict[str, object]:
    """The rows, with the columns that are asked for."""
    made = rows(found.tweets, plan, now=now)
    cells = {str(id): gain_cell(one) for id, one in found.grown.items()}
    with_tags = "tags" in asked.columns
    tags = tags_of([tweet.pk for tweet in found.tweets]) if with_tags else {}
    return {
        "now": now,
        "wanted": asked,
        "rows": [
            replace(
                row,
                figures=tuple(one for one in row.figures if one.metric in asked.columns),
                gain=cells.get(row.id, ""),
                tags=tuple(tags.get(int(row.id), ())),
                version=row.version + cells.get(row.id, "") + ",".join(tags.get(int(row.id), ())),
            )
            for row in made
        ],
        "with_ticks": True,
        "with_tags": with_tags,
        "without_curve": "curve" not in asked.columns,
        "without_check": "check" not in asked.columns,
    }


def around(request: HttpRequest, asked: Wanted, found: Page) -> dict[str, object]:
    """What stands around the rows, and is not polled."""
    source = Source.objects.filter(pk=asked.source).first() if asked.source else None
    known = found.known
    if known is None and not asked.narrowed and not asked.sort.window:
        known = counted_all()
    return {
        "page": found,
        "headings": headings(asked),
        "orders": orders(asked),
        "states": STATES.items(),
        "ages": [(name, words) for name, (words, _) in AGES.items()],
        "leasts": [(name, label, dict(asked.least).get(name)) for name, label in LABELS.items()],
        "choices": [(name, COLUMN_LABELS[name], name in asked.columns) for name in COLUMNS],
        "sources": source_choices(source),
        "tags": tag_choices(asked.tag),
        "tag": named(asked.tag) if asked.tag else None,
        "source": source,
        "known": how_many(known),
        # Nothing is tracked at all: then the box to paste into is open.
        "is_empty": known == 0 and not asked.narrowed,
        "saved": SavedView.objects.filter(user=request.user.pk),
        "exports_query": asked.address(),
    }


COLUMN_LABELS = {"tags": "Tags", "curve": "Curve", **LABELS, "check": "Checks"}


def source_choices(asked: Source | None) -> list[Source]:
    """The newest sources and the one that is asked for; files come last, of which there may be any
    number."""
    sources = Source.objects.alias(is_file=Q(kind=Source.Kind.IMPORT))
    found: list[Source] = [*sources.order_by("is_file", "-pk")[:SOURCES_MOST]]
    return found if asked is None or asked in found else [*found, asked]


def tag_choices(asked: str) -> list[tuple[str, bool]]:
    """(name, chosen) of the tags to choose from, and of the one that is asked for if it is none."""
    names = offered()
    if asked and asked.lower() not in [name.lower() for name in names]:
        names = [asked, *names]
    return [(name, name.lower() == asked.lower()) for name in names]


def how_many(known: int | None) -> str:
    """Empty if it is not known."""
    if known is None:
        return ""
    if known > COUNTED_MOST:
        return f"{counted(COUNTED_MOST)}+ tweets"
    return f"{counted(known)} tweet{'' if known == 1 else 's'}"
