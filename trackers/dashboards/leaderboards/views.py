"""Leaderboards: which authors, sources, tags, hashtags, domains and languages have most. Whole
without JavaScript."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs, require_permission
from trackers.dashboards.exports import as_file
from trackers.dashboards.leaderboards.asked import BoardQuery, parse_board_query
from trackers.dashboards.leaderboards.shown import AGE_LABELS, board_table, said_of, shown_rows
from trackers.dashboards.parts import render_parts
from trackers.ingest.sources.models import Source
from trackers.listing.saved import matches_of_set
from trackers.listing.search_slots import ClientGone, NoFreeSlot
from trackers.saved_views.models import SavedView
from trackers.schedule.intervals import current
from trackers.sets.kinds import SetKind, TweetSet, permission_for
from trackers.sets.leaderboards.asked import MAX_POSTS, Listing, TooManyPosts, read_leaderboard
from trackers.sets.leaderboards.count import MAX_LISTED, RANKED
from trackers.sets.leaderboards.large import (
    TooManyWaiting,
    find_large,
    listing_of,
    request_large,
)
from trackers.sets.leaderboards.models import LargeLeaderboard
from trackers.sets.leaderboards.rank import ranked
from trackers.standbys.requests import on_standby
from trackers.tweets.labels import LABELS
from trackers.tweets.tags.names import offered_tags
from tweetwatch import notation
from tweetwatch.time_limits import TookTooLong

# An address, its name, and whether it is chosen.
Option = tuple[str, str, bool]
_MOST_SHOWN = 50
_PERIOD_LABELS = {"24h": "24 h", "7d": "7 days", "30d": "30 days"}
_HEADS = {
    "author": ("Authors", "Author"), "source": ("Sources", "Source"), "tag": ("Tags", "Tag"),
    "hashtag": ("Hashtags", "Hashtag"), "domain": ("Domains", "Domain"),
    "language": ("Languages", "Language"),
}  # fmt: skip


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def leaderboards(request: HttpRequest) -> HttpResponse:
    asked = _asked(request)

    def board() -> dict[str, object]:
        result = _find(request, asked)
        listing = result.listing
        ordered = (
            ranked(listing.rows, by=asked.by, metric=asked.metric, most=_MOST_SHOWN)
            if listing
            else []
        )
        return {
            "result": result,
            "too_many": _said_too_many(result.too_many) if result.too_many else "",
            "problem": asked.problem or result.problem,
            "rows": shown_rows(asked.of, ordered, asked.metric),
            "said": said_of(listing) if listing else "",
            **_heads(asked, listing),
        }

    return render_parts(
        request,
        "dashboards/leaderboards/page.html",
        {"board": board},
        shared={"asked": asked},
        frame=lambda: _choices(request, asked),
    )


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def leaderboard_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """All that are listed, in this order."""
    asked = _asked(request)
    result = _find(request, asked)
    if result.listing is None:
        said = result.problem or "This list is not counted yet: the page shows how far it is."
        return HttpResponse(said, status=400, content_type="text/plain")
    rows = result.listing.rows
    ordered = ranked(rows, by=asked.by, metric=asked.metric, most=MAX_LISTED)
    return as_file(request, board_table(asked.of, ordered), form)


@require_POST
@needs(VIEW_TWEETS)
def count_leaderboard(request: HttpRequest) -> HttpResponse:
    """Have a worker count one that has too many posts to be counted at once."""
    now, _ = current()
    asked = _asked(request)
    try:
        request_large(asked.board, now=now)
    except TooManyWaiting as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('leaderboards')}?{asked.address()}")


def _asked(request: HttpRequest) -> BoardQuery:
    now, _ = current()
    asked = parse_board_query(request.GET, request.user, notation.zone(), now=now)
    require_permission(request, permission_for(asked.of))
    return asked


@dataclass(frozen=True, slots=True)
class FoundBoard:
    """Exactly one is set, or none while a list of the hour is not made yet."""

    listing: Listing | None = None
    too_many: int = 0  # so many posts, or more: nobody has asked for it to be counted
    counting: LargeLeaderboard | None = None
    problem: str = ""


def _find(request: HttpRequest, asked: BoardQuery) -> FoundBoard:
    now, _ = current()
    try:
        matches = matches_of_set(request, asked.within, now=now) if asked.within else None
        return FoundBoard(read_leaderboard(asked.board, now=now, matches=matches))
    except TooManyPosts as error:
        large = find_large(asked.board, now=now)
        if large is None:
            return FoundBoard(too_many=error.posts)
        if large.problem:
            return FoundBoard(problem=large.problem)
        listing = listing_of(large)
        return FoundBoard(listing) if listing else FoundBoard(counting=large)
    except (ClientGone, NoFreeSlot, TookTooLong):
        return FoundBoard(problem="The search of this view took too long. Try again in a moment.")


def _said_too_many(posts: int) -> str:
    number = f"more than {MAX_POSTS:,}" if posts == MAX_POSTS + 1 else f"{posts:,}"
    return (
        f"These days and those before have {number} posts, and up to {MAX_POSTS:,} are counted at "
        "once."
    )


def _heads(asked: BoardQuery, listing: Listing | None) -> dict[str, object]:
    """By which the rows are ordered: each with its address."""
    label, age = LABELS[asked.metric], AGE_LABELS[listing.spans.age if listing else "24h"]
    heads = {
        "posts": "Posts", "total": label, "change": "Before", "median": f"Median at {age}",
        "rate": "Engagement", "above": "Above 2×",
    }  # fmt: skip
    return {
        "heads": [
            (label, asked.address(by=name), name == asked.by) for name, label in heads.items()
        ],
        "one": _HEADS[asked.of][1],
    }


def _choices(request: HttpRequest, asked: BoardQuery) -> dict[str, object]:
    """What else may be chosen: each with its address."""
    return {
        "kinds": [
            (label, asked.address(of=name), name == asked.of)
            for name, (label, _) in _HEADS.items()
            if request.user.has_perm(permission_for(name))
        ],
        "periods": [
            (label, asked.address(period=name), name == asked.period)
            for name, label in _PERIOD_LABELS.items()
        ],
        "metrics": [
            (LABELS[name], asked.address(metric=name), name == asked.metric) for name in RANKED
        ],
        "within": _offered_sets(request, asked),
    }


def _offered_sets(request: HttpRequest, asked: BoardQuery) -> list[tuple[str, list[Option]]]:
    """Within which the sets may be listed, in groups."""
    views = SavedView.objects.seen_by(request.user)
    offered = {
        "Saved views": [(f"view/{view.pk}", view.name) for view in views],
        "Tags": [(f"tag/{name}", name) for name in offered_tags()],
    }
    if request.user.has_perm(VIEW_SOURCES):
        sources = Source.objects.offered()
        offered["Sources"] = [(f"source/{source.pk}", str(source)) for source in sources]
    if asked.within is not None:
        address = _offered_address(asked.within)
        if not any(address == one for options in offered.values() for one, _ in options):
            offered["Chosen"] = [(address, asked.within.title)]
    else:
        address = ""
    return [
        (label, [(one, name, one == address) for one, name in options])
        for label, options in offered.items()
        if options
    ]


def _offered_address(of: TweetSet) -> str:
    """Tags are offered by name."""
    return f"tag/{of.title}" if of.kind == SetKind.TAG else of.address
