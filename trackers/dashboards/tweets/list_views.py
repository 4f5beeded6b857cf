"""The page of tweets: what is found, and by what it can be searched."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from html import escape

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.exports import as_file
from trackers.dashboards.parts import part_of, render_parts
from trackers.dashboards.tweet_rows import tweet_rows
from trackers.dashboards.tweets.heads import (
    STANDS_OUT,
    chips,
    has_score,
    headings,
    orders,
)
from trackers.dashboards.tweets.saved_views import removed_view
from trackers.dashboards.words import commas, lasting, signed
from trackers.ingest.sources.models import Source
from trackers.listing.export import tweets_table
from trackers.listing.query import (
    HAS_FILTERS,
    LIST_COLUMNS,
    NEWEST_FIRST,
    TweetQuery,
    parse_query,
)
from trackers.listing.search import MAX_TWEETS_COUNTED, Page, count_tweets, newest_page
from trackers.listing.search_slots import ClientGone, NoFreeSlot, search_slot
from trackers.listing.sorts import Unsorted, sorted_page
from trackers.roles import gives_access
from trackers.saved_views.models import SavedView
from trackers.schedule.intervals import Plan, current
from trackers.standbys.requests import on_standby
from trackers.tweets.gains.models import Gain
from trackers.tweets.labels import LABELS
from trackers.tweets.presence import Presence
from trackers.tweets.tags.names import find_tag, offered_tags
from trackers.tweets.tags.tagging import tags_of
from trackers.updater.states import STATES
from tweetwatch.amounts import amount
from tweetwatch.notation import exactly
from tweetwatch.time_limits import TookTooLong

_TOO_LONG = (
    "This search took longer than a second and was stopped. Use more or longer words, or "
    "choose a state."
)
_TOO_MANY_SEARCHES = "Too many searches are running. Try again in a second."
# nginx's status code; only the log will see it.
_CLOSED_BY_CLIENT = 499
# To choose from; the page of each source leads to its tweets.
_COLUMN_LABELS = {"tags": "Tags", "curve": "Curve", "score": "Score", **LABELS, "check": "Checks"}
_KIND_WORDS = {
    "own": "no replies or quotes", "reply": "replies", "quote": "quotes", "video": "with a video",
    "photo": "with photos", "link": "with a link alone", "text": "text alone",
}  # fmt: skip
_NAMED_FIELDS = (
    ("hashtag", "Hashtag", "#moon"), ("domain", "Domain linked to", "example.org"),
    ("mention", "Mentions", "@name"), ("cashtag", "Cashtag", "$TWTR"),
)  # fmt: skip


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def tweet_list(request: HttpRequest) -> HttpResponse:
    """Its parts: the `rows`, for a tick, and all that was `found`, for a search."""
    asked = _asked(request)
    now, plan = current()
    is_tick = part_of(request) == "rows"
    try:
        page = _find_page(request, asked, now=now)
    except ClientGone:
        return HttpResponse(status=_CLOSED_BY_CLIENT)
    except (TookTooLong, NoFreeSlot) as error:
        if is_tick:
            # The rows stay as they are until the next poll.
            return HttpResponse(status=204)
        page = Page([], note=_TOO_MANY_SEARCHES if isinstance(error, NoFreeSlot) else _TOO_LONG)
    source = None if is_tick or not asked.source else Source.objects.filter(pk=asked.source).first()
    response = render_parts(
        request,
        "dashboards/tweets/list.html",
        {"rows": lambda: _rows_context(asked, page, plan, now=now)},
        shared={"now": now, "wanted": asked, "source": source},
        frame=lambda: {**_frame_context(asked, page), **_form_context(request, asked, source)},
        alone={
            "found": lambda: {
                **_rows_context(asked, page, plan, now=now),
                **_frame_context(asked, page),
            }
        },
    )
    if not is_tick:
        # The form sends its empty fields, too.
        response["HX-Replace-Url"] = f"{request.path}?{asked.here}" if asked.here else request.path
    return response


def _asked(request: HttpRequest) -> TweetQuery:
    """An address that asks for nothing opens on what stands out."""
    asked = parse_query(request.GET)
    return asked if request.GET else replace(asked, sort=STANDS_OUT)


def _find_page(request: HttpRequest, asked: TweetQuery, *, now: datetime) -> Page:
    if not asked.narrowed and asked.sort.by in (NEWEST_FIRST.by, STANDS_OUT.by):
        # From an index, or of a few thousand: no search.
        return sorted_or_newest(asked, now=now)
    with search_slot(request):
        return sorted_or_newest(asked, now=now)


def sorted_or_newest(asked: TweetQuery, *, now: datetime) -> Page:
    """Newest first if the requested order is not available."""
    if asked.sort == NEWEST_FIRST:
        return newest_page(asked, now=now)
    page = sorted_page(asked, now=now)
    if not isinstance(page, Unsorted):
        return page
    newest = newest_page(replace(asked, sort=NEWEST_FIRST), now=now)
    return replace(newest, note=page.newest_note, is_sorted=False)


def _rows_context(asked: TweetQuery, page: Page, plan: Plan, *, now: datetime) -> dict[str, object]:
    """The rows, with the columns that are asked for."""
    by_score = asked.sort.metric if asked.sort.by == "score" else ""
    made = tweet_rows(page.tweets, plan, now=now, score_of=by_score)
    cells = {str(id): _gain_cell(item) for id, item in page.grown.items()}
    with_tags = "tags" in asked.columns
    tags = tags_of([tweet.pk for tweet in page.tweets]) if with_tags else {}
    return {
        "rows": [
            replace(
                row,
                figures=tuple(item for item in row.figures if item.metric in asked.columns),
                gain=cells.get(row.id, ""),
                tags=tuple(tags.get(int(row.id), ())),
                version=row.version + cells.get(row.id, "") + ",".join(tags.get(int(row.id), ())),
            )
            for row in made
        ],
        "with_ticks": True,
        "with_tags": with_tags,
        "without_curve": "curve" not in asked.columns,
        "without_score": not has_score(asked),
        "without_check": "check" not in asked.columns,
    }


def _frame_context(asked: TweetQuery, page: Page) -> dict[str, object]:
    """What stands around the rows, and is not polled."""
    known = page.known
    if known is None and not asked.narrowed and not asked.sort.window:
        known = count_tweets()
    return {
        "page": page,
        "headings": headings(asked, is_sorted=page.is_sorted),
        "tag": find_tag(asked.tag) if asked.tag else None,
        "known": _what_is_listed(asked, page, known),
        "is_of_all": _is_of_all(asked, page),
        "chips": chips(asked),
        # Nothing is tracked at all: then the box to paste into is open.
        "is_empty": known == 0 and not asked.narrowed,
        "exports_query": asked.address(),
    }


def _form_context(
    request: HttpRequest, asked: TweetQuery, source: Source | None
) -> dict[str, object]:
    """What there is to choose from, and the person's own views."""
    return {
        "orders": orders(asked),
        "states": STATES.items(),
        "presences": Presence.choices,
        "kinds": _KIND_WORDS.items(),
        "contents": HAS_FILTERS.items(),
        "named": [(*one, dict(asked.named).get(one[0], "")) for one in _NAMED_FIELDS],
        "leasts": [(name, label, dict(asked.least).get(name)) for name, label in LABELS.items()],
        "choices": [(name, _COLUMN_LABELS[name], name in asked.columns) for name in LIST_COLUMNS],
        "sources": _source_choices(source),
        "tags": _tag_choices(asked.tag),
        "saved": SavedView.objects.seen_by(request.user),
        "removes_any": gives_access(request.user),
        **removed_view(request),
    }


def _source_choices(asked: Source | None) -> list[Source]:
    """And the one that is asked for."""
    choices = [*Source.objects.offered()]
    return choices if asked is None or asked in choices else [*choices, asked]


def _tag_choices(asked: str) -> list[tuple[str, bool]]:
    """(name, chosen) of the tags to choose from, and of the one that is asked for if it is none."""
    names = offered_tags()
    if asked and asked.lower() not in [name.lower() for name in names]:
        names = [asked, *names]
    return [(name, name.lower() == asked.lower()) for name in names]


def _is_of_all(asked: TweetQuery, page: Page) -> bool:
    """Whether all tweets are asked for, and these are the ones that stand out."""
    return bool(page.note) and asked.sort.by == STANDS_OUT.by and not asked.narrowed


def _what_is_listed(asked: TweetQuery, page: Page, known: int | None) -> str:
    """How many tweets, and of what that is the number; empty if it is not known."""
    if _is_of_all(asked, page):
        return "Tweets of the last 30 days with at least twice what is usual for their author"
    if known is None:
        return ""
    if asked.narrowed:
        return "1 tweet matches" if known == 1 else f"{commas(known)} tweets match"
    if known > MAX_TWEETS_COUNTED:
        return f"More than {commas(MAX_TWEETS_COUNTED)} tweets are tracked"
    return amount(known, "tweet is tracked", "tweets are tracked")


def _gain_cell(row: Gain) -> SafeString:
    """ "+115 in 58 min" and "≈ 119 an hour"; the title has both times."""
    title = f"measured from {exactly(row.since)} to {exactly(row.until)}"
    return SafeString(
        f'<td class="figure gain" data-label="Gain" title="{escape(title)}">'
        f'<data value="{row.gain}">{signed(row.gain)}</data>'
        f'<small class="soft">in {lasting(row.lasted)}{_an_hour(row)}</small></td>'
    )


def _an_hour(row: Gain) -> str:
    if row.rate is None:
        return ""
    rate = commas(round(row.rate)) if row.rate >= 10 else f"{row.rate:.1f}"
    return f", {'≈ ' if row.is_extrapolated else ''}{rate} an hour"


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def tweets_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """Named after a view of the person's, or of a team, that asks for the same."""
    now, _ = current()
    asked = parse_query(request.GET)
    view = SavedView.objects.seen_by(request.user).filter(query=asked.address()).first()
    return as_file(request, tweets_table(asked, now=now, view=view.name if view else ""), form)
