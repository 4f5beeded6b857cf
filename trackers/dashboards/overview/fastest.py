"""What grows fastest now: a list of tweets by window and metric, and how their places changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.parts import is_kiosk, render_parts
from trackers.dashboards.tweet_rows import LABELS
from trackers.dashboards.words import commas, lasting
from trackers.tweets.gains.models import By, Gain, Window
from trackers.tweets.gains.places import Places, places
from tweetwatch.notation import exactly, time_of_day

_WINDOWS = {
    Window.QUARTER: "15 min",
    Window.HOUR: "1 h",
    Window.DAY: "24 h",
}
_ORDERS: Mapping[By, str] = {"gain": "Gained", "velocity": "An hour"}
_DEFAULT_BOARD: tuple[Window, str, By] = (Window.HOUR, "views", "gain")
# On the overview, and on the page of its own.
SHORT_BOARD, _LONG_BOARD = 10, 50


@dataclass(frozen=True, slots=True)
class BoardChoice:
    words: str
    query: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class FastestRow:
    id: str
    place: int
    author: str
    text: str
    gain: str
    exact: str
    rate: str  # an hour; empty where the stretch is too short
    is_extrapolated: bool  # it lasted less than an hour
    lasted: str
    between: str
    move: str  # "up", "down", "new" or empty
    moved: str  # says it in words


@dataclass(frozen=True, slots=True)
class Board:
    asked: str  # its query
    window: str
    metric: str
    windows: tuple[BoardChoice, ...]
    metrics: tuple[BoardChoice, ...]
    orders: tuple[BoardChoice, ...]
    is_by_rate: bool
    lines: tuple[FastestRow, ...]
    compared: str  # when the places that these are compared with were taken, if known
    is_short: bool


@require_safe
@needs(VIEW_TWEETS)
def fastest(request: HttpRequest) -> HttpResponse:
    parts = {"fastest": lambda: board_context(request, most=_LONG_BOARD)}
    shared = {"now": timezone.now(), "kiosk": is_kiosk(request)}
    return render_parts(request, "dashboards/overview/fastest.html", parts, shared=shared)


def board_context(request: HttpRequest, *, most: int) -> dict[str, object]:
    return {
        "board": _board(request.GET, most=most, kiosk=is_kiosk(request)),
        "is_whole": most == _LONG_BOARD,
    }


def _board(params: Mapping[str, str], *, most: int, kiosk: bool = False) -> Board:
    window, metric, by = chosen = _chosen_board(params)
    # Places are stored of those that gained most.
    before = places(window, metric) if by == "gain" else None
    # One more, to know whether there are others.
    rows = Gain.objects.fastest(window, metric, by=by)[: most + 1]
    lines = tuple(_fastest_row(item, place, before) for place, item in enumerate(rows, 1))
    return Board(
        asked=_board_query(*chosen, kiosk=kiosk),
        window=window.label,
        metric=LABELS[metric],
        windows=tuple(
            BoardChoice(words, _board_query(item, metric, by, kiosk=kiosk), item == window)
            for item, words in _WINDOWS.items()
        ),
        metrics=tuple(
            BoardChoice(words, _board_query(window, item, by, kiosk=kiosk), item == metric)
            for item, words in LABELS.items()
        ),
        orders=tuple(
            BoardChoice(words, _board_query(window, metric, item, kiosk=kiosk), item == by)
            for item, words in _ORDERS.items()
        ),
        is_by_rate=by == "velocity",
        lines=lines[:most],
        compared=time_of_day(before.at) if before else "",
        is_short=len(lines) > most,
    )


def _chosen_board(params: Mapping[str, str]) -> tuple[Window, str, By]:
    """What the address asks for; what is unknown gets its default."""
    window, metric, by = _DEFAULT_BOARD
    asked = params.get("window", "")
    if asked in {str(int(window_choice)) for window_choice in Window}:
        window = Window(int(asked))
    if params.get("metric") in LABELS:
        metric = params["metric"]
    if params.get("by") == "velocity":
        by = "velocity"
    return window, metric, by


def _board_query(window: Window, metric: str, by: By, *, kiosk: bool) -> str:
    asked: dict[str, str | int] = {"window": int(window), "metric": metric, "by": by}
    return urlencode({**asked, "kiosk": 1} if kiosk else asked)


def _fastest_row(row: Gain, place: int, before: Places | None) -> FastestRow:
    tweet = row.tweet
    text = getattr(tweet, "tweettext", None)
    move, moved = _place_change(row.tweet_id, place, before)
    return FastestRow(
        id=str(row.tweet_id),
        place=place,
        author=str(tweet.author) if tweet.author else f"Tweet {row.tweet_id}",
        text=text.text if text else "Its text is not known.",
        gain=f"+{commas(row.gain)}",
        exact=str(row.gain),
        rate="" if row.rate is None else commas(round(row.rate)),
        is_extrapolated=row.is_extrapolated,
        lasted=lasting(row.lasted),
        between=_measured_between(row.since, row.until),
        move=move,
        moved=moved,
    )


def _measured_between(since: datetime, until: datetime) -> str:
    return f"from {exactly(since)} to {exactly(until)}"


def _place_change(id: int, place: int, before: Places | None) -> tuple[str, str]:
    if before is None:
        return "", ""
    was = before.of.get(id)
    if was is None:
        return "new", "new here"
    if was == place:
        return "", "same place"
    by = abs(was - place)
    return ("up", f"up {by}") if was > place else ("down", f"down {by}")
