"""The page of tweets: what is found, and by what it can be searched."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from html import escape

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.exports import as_file
from trackers.dashboards.parts import part_of, show
from trackers.dashboards.tweet_rows import LABELS, rows
from trackers.dashboards.tweets.headings import headings, orders
from trackers.dashboards.tweets.saved import SavedView
from trackers.dashboards.words import counted, exactly, lasting, signed
from trackers.ingest.sources.models import Source
from trackers.listing.lines import table
from trackers.listing.patience import Busy, GivenUp, turn
from trackers.listing.search import COUNTED_MOST, Page, counted_all, page
from trackers.listing.sorts import UNSORTED, sorted_page
from trackers.listing.wanted import AGES, COLUMNS, NEWEST, Wanted, wanted
from trackers.schedule.intervals import Plan, current
from trackers.tweets.movers.models import Mover
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
    """Its parts: the `rows`, for a tick, and all that was `found`, for a search."""
    asked = wanted(request.GET)
    now, plan = current()
    is_tick = part_of(request) == "rows"
    try:
        found = found_for(request, asked, now=now)
    except GivenUp:
        return HttpResponse(status=CLOSED_BY_CLIENT)
    except (TookTooLong, Busy) as error:
        if is_tick:
            # The rows stay as they are until the next poll.
            return HttpResponse(status=204)
        found = Page([], note=BUSY if isinstance(error, Busy) else TOO_LONG)
    source = None if is_tick or not asked.source else Source.objects.filter(pk=asked.source).first()
    response = show(
        request,
        "dashboards/tweets/list.html",
        {"rows": lambda: listed(asked, found, plan, now=now)},
        shared={"now": now, "wanted": asked, "source": source},
        frame=lambda: {**around(asked, found), **form_of(request, asked, source)},
        alone={"found": lambda: {**listed(asked, found, plan, now=now), **around(asked, found)}},
    )
    if not is_tick:
        # The form sends its empty fields, too.
        response["HX-Replace-Url"] = f"{request.path}?{asked.here}" if asked.here else request.path
    return response


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


def around(asked: Wanted, found: Page) -> dict[str, object]:
    """What stands around the rows, and is not polled."""
    known = found.known
    if known is None and not asked.narrowed and not asked.sort.window:
        known = counted_all()
    return {
        "page": found,
        "headings": headings(asked),
        "tag": named(asked.tag) if asked.tag else None,
        "known": how_many(known),
        # Nothing is tracked at all: then the box to paste into is open.
        "is_empty": known == 0 and not asked.narrowed,
        "exports_query": asked.address(),
    }


def form_of(request: HttpRequest, asked: Wanted, source: Source | None) -> dict[str, object]:
    """What there is to choose from, and the person's own views."""
    return {
        "orders": orders(asked),
        "states": STATES.items(),
        "ages": [(name, words) for name, (words, _) in AGES.items()],
        "leasts": [(name, label, dict(asked.least).get(name)) for name, label in LABELS.items()],
        "choices": [(name, COLUMN_LABELS[name], name in asked.columns) for name in COLUMNS],
        "sources": source_choices(source),
        "tags": tag_choices(asked.tag),
        "saved": SavedView.objects.filter(user=request.user.pk),
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


def gain_cell(mover: Mover) -> SafeString:
    """ "+115 in 58 min" and "119 an hour"; the title has both times."""
    title = f"measured from {exactly(mover.since)} to {exactly(mover.until)}"
    return SafeString(
        f'<td class="figure gain" data-label="Gain" title="{escape(title)}">'
        f'<data value="{mover.gain}">{signed(mover.gain)}</data>'
        f'<small class="soft">in {lasting(mover.lasted)}, {an_hour(mover.velocity)} an hour</small>'
        "</td>"
    )


def an_hour(velocity: float) -> str:
    return counted(round(velocity)) if velocity >= 10 else f"{velocity:.1f}"


@require_safe
@needs(TWEETS)
def tweets_file(request: HttpRequest, form: str) -> HttpResponseBase:
    now, _ = current()
    return as_file(request, table(wanted(request.GET), now=now), form)
