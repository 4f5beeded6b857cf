"""The page of a set of tweets: a period's figures beside those of the period before. Drawn by the
server, and whole without JavaScript."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs, require_permission
from trackers.dashboards.charts.pictures import PICTURES, as_picture
from trackers.dashboards.exports import as_file
from trackers.dashboards.set_query import SetQuery, parse_set_query
from trackers.dashboards.sets.shown import charts_of, figures_context
from trackers.listing.saved import MAX_MATCHES, matches_of_set
from trackers.listing.search_slots import ClientGone, NoFreeSlot
from trackers.schedule.intervals import current
from trackers.sets import words
from trackers.sets.charts import SET_CHARTS
from trackers.sets.kinds import SetKind, TweetSet, find_set, permission_for
from trackers.sets.leaderboards.asked import WITHIN_KINDS
from trackers.sets.period_figures import PeriodFigures, period_figures
from trackers.standbys.requests import on_standby
from trackers.tweets.labels import LABELS
from tweetwatch import notation
from tweetwatch.time_limits import TookTooLong

_TOO_LONG = "This took too long and was stopped. Choose a shorter period, or try again."
_TOO_MANY = "Other searches are running. Try again in a moment."


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def set_page(request: HttpRequest, kind: str, key: str) -> HttpResponse:
    of = _get_set(request, kind, key)
    if of.key != key:
        there = reverse("set", args=[of.kind, of.key])
        return redirect(f"{there}?{request.GET.urlencode()}" if request.GET else there)
    now, _ = current()
    asked = parse_set_query(request.GET, notation.zone(), now=now)
    try:
        figures, problem = _read(request, of, asked, now=now), ""
    except ClientGone:
        return HttpResponse(status=499)
    except (TookTooLong, NoFreeSlot) as error:
        figures = None
        problem = _TOO_MANY if isinstance(error, NoFreeSlot) else _TOO_LONG
    context = {
        "now": now,
        "problem": problem or asked.problem,
        **_choices(of, asked, now=now),
        **(figures_context(request, of, figures, now=now) if figures else {}),
    }
    return render(request, "dashboards/sets/page.html", context)


def _choices(of: TweetSet, asked: SetQuery, *, now: datetime) -> dict[str, object]:
    """What is shown, and what else may be chosen: each with its address."""
    return {
        "of": of,
        "shared": urlencode({"kind": "set", "of": of.address, "query": asked.address()}),
        "mailed": urlencode({"report": of.address}),
        "asked": asked,
        "its_page": _own_page(of),
        "its_leaders": f"{reverse('leaderboards')}?{urlencode({'within': of.address})}"
        if of.kind in WITHIN_KINDS
        else "",
        "its_tweets": _list_of(of),
        "periods": [
            (label, asked.address(period=name), name == asked.period.name)
            for name, label in words.PERIOD_LABELS.items()
        ],
        "ages": [
            (label, asked.address(age=name), name == asked.age)
            for name, label in words.AGE_LABELS.items()
        ],
        "metrics": [
            (label, asked.address(metric=name), name == asked.metric)
            for name, label in LABELS.items()
        ],
        "span": words.span_words(asked.period),
        "before": words.before_words(asked.period),
        "label": LABELS[asked.metric],
        "age_label": words.AGE_LABELS[asked.age],
        "most_matches": MAX_MATCHES,
        "zone": notation.offset(now),
    }


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def set_chart(request: HttpRequest, kind: str, key: str, chart: str, form: str) -> HttpResponseBase:
    """One of SET_CHARTS as a picture, or what it shows as a table."""
    of = _get_set(request, kind, key)
    if chart not in SET_CHARTS:
        raise Http404(f"A set has no chart {chart[:80]!r}. Choose one of {', '.join(SET_CHARTS)}.")
    now, _ = current()
    asked = parse_set_query(request.GET, notation.zone(), now=now)
    try:
        figures = _read(request, of, asked, now=now)
    except (ClientGone, TookTooLong, NoFreeSlot):
        return HttpResponse(_TOO_LONG, status=503, content_type="text/plain")
    drawn = charts_of(request, of, figures)
    if form not in PICTURES:
        return as_file(request, drawn.table(chart), form)
    return as_picture(request, drawn.draw(chart), form, name=f"{of.kind}-{of.key}-{chart}")


def _get_set(request: HttpRequest, kind: str, key: str) -> TweetSet:
    require_permission(request, permission_for(kind))
    of = find_set(kind, key, request.user)
    if of is None:
        raise Http404(f"There is no set {kind[:40]} {key[:80]}.")
    return of


def _read(request: HttpRequest, of: TweetSet, asked: SetQuery, *, now: datetime) -> PeriodFigures:
    matches = matches_of_set(request, of, now=now)
    return period_figures(of, asked.period, age=asked.age, metric=asked.metric, matches=matches)


def _own_page(of: TweetSet) -> str:
    """The page that says what it is; empty for a set that is nothing but its tweets."""
    if of.kind in (SetKind.AUTHOR, SetKind.SOURCE):
        return reverse(of.kind.value, args=[int(of.key)])
    return ""


def _list_of(of: TweetSet) -> str:
    """The list of its tweets, to search and to filter."""
    name = {
        SetKind.AUTHOR: {"author": of.key},
        SetKind.SOURCE: {"source": of.key},
        SetKind.TAG: {"tag": of.title},
        SetKind.HASHTAG: {"hashtag": of.key},
        SetKind.DOMAIN: {"domain": of.key},
        SetKind.LANGUAGE: {"lang": of.key},
    }.get(of.kind, {})
    query = of.query if of.kind == SetKind.VIEW else urlencode(name)
    return f"{reverse('tweets')}?{query}" if query else reverse("tweets")
