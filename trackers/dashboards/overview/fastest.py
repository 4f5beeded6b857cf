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
from trackers.dashboards.words import commas, exactly, lasting
from trackers.tweets.gains.models import Gain, Window
from trackers.tweets.gains.places import Places, places

_WINDOWS = {
    Window.QUARTER: "15 min",
    Window.HOUR: "1 h",
    Window.DAY: "24 h",
}
_DEFAULT_BOARD = (Window.HOUR, "views")
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
    rate: str
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
    window, metric = _chosen_board(params)
    before = places(window, metric)
    # One more, to know whether there are others.
    rows = Gain.objects.fastest(window, metric)[: most + 1]
    lines = tuple(_fastest_row(item, place, before) for place, item in enumerate(rows, 1))
    return Board(
        asked=_board_query(window, metric, kiosk=kiosk),
        window=window.label,
        metric=LABELS[metric],
        windows=tuple(
            BoardChoice(words, _board_query(item, metric, kiosk=kiosk), item == window)
            for item, words in _WINDOWS.items()
        ),
        metrics=tuple(
            BoardChoice(words, _board_query(window, item, kiosk=kiosk), item == metric)
            for item, words in LABELS.items()
        ),
        lines=lines[:most],
        compared=f"{before.at:%H:%M} UTC" if before else "",
        is_short=len(lines) > most,
    )


def _chosen_board(params: Mapping[str, str]) -> tuple[Window, str]:
    """What the address asks for; what is unknown gets its default."""
    window, metric = _DEFAULT_BOARD
    asked = params.get("window", "")
    if asked in {str(int(window_choice)) for window_choice in Window}:
        window = Window(int(asked))
    if params.get("metric") in LABELS:
        metric = params["metric"]
    return window, metric


def _board_query(window: Window, metric: str, *, kiosk: bool) -> str:
    asked: dict[str, str | int] = {"window": int(window), "metric": metric}
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
        rate=commas(round(row.velocity)),
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
