"""What grows fastest now: a list of tweets by window and metric, and how their places changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.charts.small import Sparkline, sparkline
from trackers.dashboards.parts import is_kiosk, render_parts
from trackers.dashboards.tweet_rows import RUNS_DRAWN
from trackers.dashboards.words import Moment, ago, commas, lasting
from trackers.listing.query import AGE_FILTERS, TweetQuery
from trackers.schedule.intervals import current, usual_interval
from trackers.tweets.gains.models import By, Gain, Window
from trackers.tweets.gains.places import Places, places
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Tweet
from trackers.tweets.series import holes, recent_runs
from trackers.tweets.snowflake import born_at, has_time
from tweetwatch.notation import exactly, time_of_day

_WINDOWS = {
    Window.QUARTER: "15 min",
    Window.HOUR: "1 h",
    Window.DAY: "24 h",
}
_ORDERS: Mapping[By, str] = {"gain": "Gained", "velocity": "An hour"}
# 24h: 24 h.
_AGES = {"": "any", **{name: f"{name[:-1]} {name[-1]}" for name in AGE_FILTERS}}
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
    # Of the page of its own, which has the room.
    born: Moment | None = None
    spark: Sparkline | None = None


@dataclass(frozen=True, slots=True)
class Board:
    asked: str  # its query
    window: str
    metric: str
    windows: tuple[BoardChoice, ...]
    metrics: tuple[BoardChoice, ...]
    orders: tuple[BoardChoice, ...]
    ages: tuple[BoardChoice, ...]
    in_list: str  # the query of the same tweets on the page of tweets, where they can be filtered
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
    is_whole = most == _LONG_BOARD
    return {
        "board": _board(request.GET, most=most, is_whole=is_whole, kiosk=is_kiosk(request)),
        "is_whole": is_whole,
    }


def _board(params: Mapping[str, str], *, most: int, is_whole: bool, kiosk: bool) -> Board:
    window, metric, by = _chosen_board(params)
    age = params.get("age", "") if is_whole and params.get("age") in AGE_FILTERS else ""
    # Places are stored of those that gained most of all.
    before = places(window, metric) if by == "gain" and not age else None
    listed = Gain.objects.fastest(window, metric, by=by)
    if age:
        listed = listed.filter(tweet_id__gte=TweetQuery(age=age).posted(timezone.now())[0])
    # One more, to know whether there are others.
    rows = listed[: most + 1]
    lines = tuple(_fastest_row(item, place, before) for place, item in enumerate(rows, 1))
    if is_whole:
        lines = _with_curves(lines, [item.tweet for item in rows], metric)

    def query(window: Window = window, metric: str = metric, by: By = by, age: str = age) -> str:
        asked: dict[str, str | int] = {"window": int(window), "metric": metric, "by": by}
        return urlencode(
            {**asked, **({"age": age} if age else {}), **({"kiosk": 1} if kiosk else {})}
        )

    in_list = {"sort": f"{by}-{metric}-{window.value}", **({"age": age} if age else {})}
    return Board(
        asked=query(),
        window=window.label,
        metric=LABELS[metric],
        windows=tuple(
            BoardChoice(words, query(window=item), item == window)
            for item, words in _WINDOWS.items()
        ),
        metrics=tuple(
            BoardChoice(words, query(metric=item), item == metric) for item, words in LABELS.items()
        ),
        orders=tuple(
            BoardChoice(words, query(by=item), item == by) for item, words in _ORDERS.items()
        ),
        ages=tuple(
            BoardChoice(words, query(age=item), item == age) for item, words in _AGES.items()
        ),
        in_list=urlencode(in_list),
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


def _with_curves(
    lines: tuple[FastestRow, ...], tweets: Sequence[Tweet], metric: str
) -> tuple[FastestRow, ...]:
    """With when each was posted, and its latest curve in this metric."""
    now, plan = current()
    runs = recent_runs([tweet.pk for tweet in tweets], most=RUNS_DRAWN)
    made = []
    for line, tweet in zip(lines, tweets, strict=True):
        born = tweet.created_at or (born_at(tweet.pk) if has_time(tweet.pk) else None)
        own = runs.get(tweet.pk, [])
        spark = sparkline(own, holes(own, usual_interval(tweet, plan)), LABELS, preferred=[metric])
        made.append(replace(line, born=ago(born, now=now) if born else None, spark=spark))
    return tuple(made)


def _fastest_row(row: Gain, place: int, before: Places | None) -> FastestRow:
    tweet = row.tweet
    text = getattr(tweet, "tweettext", None)
    move, moved = _place_change(row.tweet_id, place, before)
    return FastestRow(
        id=str(row.tweet_id),
        place=place,
        author=str(tweet.author) if tweet.author else f"Tweet {row.tweet_id}",
        text=text.displayed if text else "Its text is not known.",
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
