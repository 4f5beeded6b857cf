"""Yesterday against the day before, in all and by source. From rollups, once in some minutes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from django.core.cache import cache
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from trackers.charts.scales import shortened
from trackers.dashboards.access import VIEW_SOURCES
from trackers.dashboards.set_links import set_of
from trackers.dashboards.words import commas
from trackers.notes.models import Note
from trackers.notes.things import names_of
from trackers.rollups.models import RollupKind
from trackers.sets.leaderboards.asked import AskedBoard, TooManyPosts, read_leaderboard
from trackers.sets.leaderboards.count import SetRow
from trackers.sets.leaderboards.rank import ranked
from trackers.sets.periods import Period, custom_period
from trackers.sets.words import change_words
from tweetwatch import notation

_SOURCES_SHOWN = 6
# All of yesterday's posts have reached it from one o'clock on.
_AGE = "1h"
_KEPT_FOR = 600  # seconds


@dataclass(frozen=True, slots=True)
class YesterdayLine:
    name: str
    address: str
    posts: str
    posts_change: str
    posts_mood: str  # "up", "down" or empty
    views: str  # in all, at an hour of age
    views_change: str
    views_mood: str


@dataclass(frozen=True, slots=True)
class Yesterday:
    day: str
    of_all: YesterdayLine | None
    lines: tuple[YesterdayLine, ...]
    one: str  # "Source", or "Author" for those who may not see sources
    more: str  # the address of the whole list
    problem: str = ""


def yesterday_context(request: HttpRequest, *, now: datetime) -> dict[str, object]:
    kind = RollupKind.SOURCE if request.user.has_perm(VIEW_SOURCES) else RollupKind.AUTHOR
    zone = notation.zone()
    day = now.astimezone(zone).date() - timedelta(days=1)
    period = custom_period(day, day, zone, now=now)
    of = kind.name.lower()
    days = urlencode({"of": of, "from": day.isoformat(), "until": day.isoformat()})
    try:
        lines, of_all = _sets_of_day(kind, period), _sets_of_day(RollupKind.ALL, period)
    except TooManyPosts:
        # They are counted each hour there.
        address = f"{reverse('leaderboards')}?{urlencode({'of': of, 'period': '24h'})}"
        return {"yesterday": Yesterday(f"{day:%a}", None, (), of.title(), address, "many")}
    shown = ranked(lines, by="posts", metric="views", most=_SOURCES_SHOWN)
    names = names_of(Note(kind=of, key=row.key) for row in shown)
    return {
        "yesterday": Yesterday(
            day=f"{day:%A}",
            of_all=_source_line("All", set_of("all", "all"), of_all[0]) if of_all else None,
            lines=tuple(
                _source_line(names[of, row.key], set_of(of, row.key), row)
                for row in shown
                if (of, row.key) in names
            ),
            one=of.title(),
            more=f"{reverse('leaderboards')}?{days}",
        )
    }


def _sets_of_day(kind: RollupKind, period: Period) -> list[SetRow]:
    key = f"yesterday-{int(kind)}-{period.this.since.timestamp():.0f}"
    rows = cast(list[SetRow] | None, cache.get(key))
    if rows is None:
        listing = read_leaderboard(AskedBoard(kind, period, age=_AGE), now=period.now)
        rows = listing.rows if listing else []
        cache.set(key, rows, _KEPT_FOR)
    return rows


def _source_line(name: str, address: str, row: SetRow) -> YesterdayLine:
    views, before = row.totals["views"], row.before["views"]
    posts_change, posts_mood = change_words(row.posts, row.posts_before)
    views_change, views_mood = change_words(views, before)
    return YesterdayLine(
        name, address, commas(row.posts), posts_change, posts_mood,
        "–" if views is None else shortened(views), views_change, views_mood,
    )  # fmt: skip
