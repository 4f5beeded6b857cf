"""Leaderboards: which authors, sources, tags, hashtags, domains and languages have most. Whole
without JavaScript."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs, require_permission
from trackers.dashboards.exports import as_file
from trackers.dashboards.leaderboards.asked import KIND_NAMES, BoardQuery, parse_board_query
from trackers.dashboards.leaderboards.shown import AGE_LABELS, board_table, said_of, shown_rows
from trackers.schedule.intervals import current
from trackers.sets.kinds import permission_for
from trackers.sets.leaderboards.count import MAX_LISTED, RANKED
from trackers.sets.leaderboards.rank import ranked
from trackers.sets.leaderboards.update import (
    ABOVE_KINDS,
    MAX_POSTS,
    Listing,
    TooManyPosts,
    count_days,
    read_leaderboard,
)
from trackers.tweets.labels import LABELS
from tweetwatch import notation

_MOST_SHOWN = 50
_PERIOD_LABELS = {"24h": "24 h", "7d": "7 days", "30d": "30 days"}
_HEADS = {
    "author": ("Authors", "Author"), "source": ("Sources", "Source"), "tag": ("Tags", "Tag"),
    "hashtag": ("Hashtags", "Hashtag"), "domain": ("Domains", "Domain"),
    "language": ("Languages", "Language"),
}  # fmt: skip


@require_safe
@needs(VIEW_TWEETS)
def leaderboards(request: HttpRequest) -> HttpResponse:
    asked = _asked(request)
    listing, problem = _find_listing(asked)
    rows = (
        ranked(listing.rows, by=asked.by, metric=asked.metric, most=_MOST_SHOWN) if listing else []
    )
    context = {
        "asked": asked,
        "problem": asked.problem or problem,
        "is_made": listing is not None or bool(problem),
        "rows": shown_rows(asked.of, rows, asked.metric),
        "said": said_of(listing) if listing else "",
        **_choices(request, asked, listing),
    }
    return render(request, "dashboards/leaderboards/page.html", context)


@require_safe
@needs(VIEW_TWEETS)
def leaderboard_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """All that are listed, in this order."""
    asked = _asked(request)
    listing, problem = _find_listing(asked)
    if problem:
        return HttpResponse(problem, status=400, content_type="text/plain")
    rows = listing.rows if listing else []
    ordered = ranked(rows, by=asked.by, metric=asked.metric, most=MAX_LISTED)
    return as_file(request, board_table(asked.of, ordered), form)


def _asked(request: HttpRequest) -> BoardQuery:
    now, _ = current()
    asked = parse_board_query(request.GET, notation.zone(), now=now)
    require_permission(request, permission_for(asked.of))
    return asked


def _find_listing(asked: BoardQuery) -> tuple[Listing | None, str]:
    """And what is wrong with the days."""
    kind = KIND_NAMES[asked.of]
    if asked.days is None:
        now, _ = current()
        return read_leaderboard(kind, asked.period, now=now), ""
    try:
        return count_days(kind, asked.days), ""
    except TooManyPosts as error:
        return None, (
            f"These days and those before have {error.posts:,} posts, and up to {MAX_POSTS:,} are "
            "counted at once. Choose fewer days, or one of the periods above, which are counted "
            "every hour."
        )


def _choices(request: HttpRequest, asked: BoardQuery, listing: Listing | None) -> dict[str, object]:
    """What is shown, and what else may be chosen: each with its address."""
    label, age = LABELS[asked.metric], AGE_LABELS[listing.age if listing else "24h"]
    heads = {
        "posts": "Posts", "total": label, "change": "Before", "median": f"Median at {age}",
        "rate": "Engagement", "above": "Above 2×",
    }  # fmt: skip
    if KIND_NAMES[asked.of] not in ABOVE_KINDS:
        del heads["above"]
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
        "heads": [
            (label, asked.address(by=name), name == asked.by) for name, label in heads.items()
        ],
        "has_above": "above" in heads,
        "one": _HEADS[asked.of][1],
    }
