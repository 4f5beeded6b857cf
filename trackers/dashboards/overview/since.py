"""What happened since a person was here: how much of each kind, an example, and all of it.

Everything is read by an index and up to MOST_COUNTED, so it costs the same however much there was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_safe

from trackers.alerts.models import AlertNotice
from trackers.dashboards.access import VIEW_ALERTS, VIEW_TWEETS, needs
from trackers.dashboards.overview.visits import note_visit
from trackers.dashboards.tweet_rows import texts_of
from trackers.dashboards.words import Moment, ago, commas
from trackers.happenings.models import Happening, HappeningKind
from trackers.happenings.prune import KEPT_FOR
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import first_id_at
from tweetwatch.amounts import amount

MOST_COUNTED = 1000
_FIRST_DAY = timedelta(days=1)
_LISTED = 100
_MAX_TEXT = 80
_HappeningFigures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SinceLine:
    """One kind of news."""

    id: str
    count: str  # "12", or "1,000+"
    what: str
    example: str
    link: str


@dataclass(frozen=True, slots=True)
class HappeningLine:
    tweet: int
    who: str
    text: str
    sentence: str
    moment: Moment


def since_context(request: HttpRequest, *, now: datetime) -> dict[str, object]:
    """What the card shows; this look counts as one."""
    user = cast(User, request.user)
    away_since = note_visit(user.pk, now=now)
    since = max(away_since or now - _FIRST_DAY, now - KEPT_FOR)
    lines = [*_of_happenings(since), *_of_new_tweets(since)]
    if user.has_perm(VIEW_ALERTS):
        lines = [*_of_alerts(user, since), *lines]
    return {"since_lines": lines, "since": ago(since, now=now), "is_first_day": away_since is None}


def _counted(rows: Sequence[Any]) -> str:
    return f"{commas(MOST_COUNTED)}+" if len(rows) > MOST_COUNTED else commas(len(rows))


def _of_alerts(user: User, since: datetime) -> list[SinceLine]:
    seen = AlertNotice.objects.seen_by(user)
    notices = seen.filter(kind=AlertNotice.Kind.ALERT, at__gte=since)
    names = list(notices.order_by("-at").values_list("rule_name", flat=True)[: MOST_COUNTED + 1])
    if not names:
        return []
    often = Counter(name or "what is checked by itself" for name in names).most_common(3)
    example = ", ".join(f"“{name}” {_times(count)}" for name, count in often)
    return [
        SinceLine("alerts", _counted(names), _plural(names, "alert"), example, reverse("alert-log"))
    ]


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{commas(count)} times")


def _plural(rows: Sequence[Any], noun: str) -> str:
    return amount(len(rows), noun).partition(" ")[2]


def _of_happenings(since: datetime) -> list[SinceLine]:
    by_kind = {
        kind: list(
            Happening.objects.of_kind_since(kind, since).values_list("tweet_id", "figures")[
                : MOST_COUNTED + 1
            ]
        )
        for kind in _EXAMPLES
    }
    examples = {
        kind: max(rows, key=lambda row: _weight(row[1])) for kind, rows in by_kind.items() if rows
    }
    ids = [id for id, _ in examples.values()]
    names, texts = _names_of(ids), texts_of(ids)
    return [
        SinceLine(
            id=kind.value,
            count=_counted(by_kind[kind]),
            what=_WORDS[kind],
            example=f"{first}{names.get(id, f'tweet {id}')}, {says}",
            link=f"{reverse('happenings')}?{urlencode({'what': kind, 'since': since.isoformat()})}",
        )
        for kind, (id, figures) in examples.items()
        for first in [_FIRST_WORDS[kind] if len(by_kind[kind]) > 1 else ""]
        for says in [_EXAMPLES[kind](figures, texts.get(id, ""))]
    ]


def _weight(figures: _HappeningFigures) -> int:
    """What is worth naming first: the highest milestone, the most seen, the deepest fall."""
    if "before" in figures:
        return abs(int(figures["before"]) - int(figures["after"]))
    return int(figures.get("at") or figures.get("views") or 0)


def _reached(figures: _HappeningFigures, _text: str = "") -> str:
    return f"{commas(figures['at'])} {figures['metric']}"


def _was_seen(figures: _HappeningFigures, _text: str = "") -> str:
    reason = str(figures["reason"]).replace("_", " ")
    return f"{reason}, {amount(figures['views'], 'view')}" if figures.get("views") else reason


def _now_says(figures: _HappeningFigures, text: str = "") -> str:
    versions = f"{figures['versions']} versions"
    return f"{versions}, now “{_short(text)}”" if text else versions


def _fell(figures: _HappeningFigures, _text: str = "") -> str:
    return f"{figures['metric']} from {commas(figures['before'])} to {commas(figures['after'])}"


def _came_back(figures: _HappeningFigures, _text: str = "") -> str:
    return f"{commas(figures['after'])} {figures['metric']} in an hour"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"


_EXAMPLES: Mapping[HappeningKind, Callable[[_HappeningFigures, str], str]] = {
    HappeningKind.MILESTONE: _reached,
    HappeningKind.GONE: _was_seen,
    HappeningKind.EDITED: _now_says,
    HappeningKind.FELL: _fell,
    HappeningKind.SECOND_WAVE: _came_back,
}
_WORDS = {
    HappeningKind.MILESTONE: "passed a milestone",
    HappeningKind.GONE: "deleted or hidden",
    HappeningKind.EDITED: "edited",
    HappeningKind.FELL: "lost counts",
    HappeningKind.SECOND_WAVE: "second wave",
}
_FIRST_WORDS = {
    HappeningKind.MILESTONE: "the highest: ",
    HappeningKind.GONE: "the most seen: ",
    HappeningKind.EDITED: "the last: ",
    HappeningKind.FELL: "the most: ",
    HappeningKind.SECOND_WAVE: "the highest: ",
}


def _names_of(ids: Sequence[int]) -> dict[int, str]:
    """Who wrote each tweet."""
    tweets = Tweet.objects.filter(pk__in=ids).select_related("author")
    return {tweet.pk: str(tweet.author or f"tweet {tweet.pk}") for tweet in tweets}


def _of_new_tweets(since: datetime) -> list[SinceLine]:
    """Those that were posted since, by their ids."""
    first = first_id_at(int(since.timestamp() * 1000))
    rows = list(
        Tweet.objects.filter(pk__gte=first)
        .order_by("-pk")
        .values_list("pk", "author_id")[: MOST_COUNTED + 1]
    )
    if not rows:
        return []
    newest = rows[0][0]
    text, authors = (
        texts_of([newest]).get(newest, ""),
        len({author for _, author in rows if author}),
    )
    example = f"by {amount(authors, 'author')}; the newest: " if authors else "the newest: "
    name = _names_of([newest]).get(newest, f"tweet {newest}")
    says = f", “{_short(text)}”" if text else ""
    link = f"{reverse('tweets')}?{urlencode({'since': timezone.localtime(since).date()})}"
    return [
        SinceLine("new", _counted(rows), _plural(rows, "new tweet"), f"{example}{name}{says}", link)
    ]


@require_safe
@needs(VIEW_TWEETS)
def happenings(request: HttpRequest) -> HttpResponse:
    """The newest of one kind since a time."""
    now = timezone.now()
    asked = request.GET.get("what", HappeningKind.MILESTONE)
    if asked not in _EXAMPLES:
        raise Http404(f"Nothing of the kind {asked[:20]} happens.")
    kind = HappeningKind(asked)
    rows = list(
        Happening.objects.of_kind_since(kind, _asked_since(request, now=now))[: _LISTED + 1]
    )
    ids = [row.tweet_id for row in rows[:_LISTED]]
    names, texts = _names_of(ids), texts_of(ids)
    context = {
        "now": now,
        "what": _WORDS[kind],
        "kinds": [(each.value, _WORDS[each], each == kind) for each in _EXAMPLES],
        "since": request.GET.get("since", ""),
        "has_more": len(rows) > _LISTED,
        "lines": [
            HappeningLine(
                tweet=row.tweet_id if row.tweet_id in names else 0,
                who=names.get(row.tweet_id, f"tweet {row.tweet_id}"),
                text=_short(texts.get(row.tweet_id, "")),
                sentence=_EXAMPLES[kind](row.figures, ""),
                moment=ago(row.at, now=now),
            )
            for row in rows[:_LISTED]
        ],
    }
    return render(request, "dashboards/overview/happenings.html", context)


def _asked_since(request: HttpRequest, *, now: datetime) -> datetime:
    """As far back as happenings are kept, where no time is asked for."""
    try:
        since = parse_datetime(request.GET.get("since", "")[:40])
    except ValueError:
        since = None
    earliest = now - KEPT_FOR
    return max(since, earliest) if since is not None and timezone.is_aware(since) else earliest
