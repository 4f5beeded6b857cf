"""What the address of the tweets page asks for: a search, filters, an order, columns, a place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import QueryDict

from trackers.scores.models import SCORE_METRICS
from trackers.tweets.entities import domain_of
from trackers.tweets.finding.named import NAMED_IN
from trackers.tweets.gains.models import Window
from trackers.tweets.kinds import KIND_NAMES
from trackers.tweets.models import METRICS
from trackers.tweets.presence import Presence
from trackers.tweets.snowflake import LARGEST_ID, first_id_at
from trackers.updater.states import STATES
from tweetwatch import notation
from tweetwatch.notation import midnight

AGE_FILTERS = {
    "1h": ("the last hour", timedelta(hours=1)),
    "24h": ("the last 24 hours", timedelta(days=1)),
    "7d": ("the last 7 days", timedelta(days=7)),
    "30d": ("the last 30 days", timedelta(days=30)),
}
HAS_FILTERS = {"link": "a link", "media": "a photo or video"}
MAX_LEAST = 10**15
# Besides the tweet itself.
LIST_COLUMNS = (
    "tags", "curve", "score",
    "views", "likes", "retweets", "replies", "quotes", "bookmarks", "check",
)  # fmt: skip
# The default columns.
_DEFAULT_COLUMNS = LIST_COLUMNS[1:]
_SORT_COLUMNS = ("author", "checked", "next", *METRICS)
_SCORE_SORT = re.compile(rf"score-({'|'.join(SCORE_METRICS)})")
_GROWTH_SORT = re.compile(
    rf"(gain|velocity)-({'|'.join(METRICS)})-({'|'.join(map(str, Window.values))})"
)


@dataclass(frozen=True, slots=True)
class Sort:
    """An order by one of _SORT_COLUMNS, by the `score` of a metric, or by the `gain` or `velocity`
    of one within a window; without a column, newest first.
    """

    by: str = ""
    metric: str = ""
    window: Window | None = None
    up: bool = False  # lowest first

    @property
    def name(self) -> str:
        parts = (self.by, self.metric, self.window and str(self.window.value))
        return "-".join(part for part in parts if part)


NEWEST_FIRST = Sort()


@dataclass(frozen=True, slots=True)
class TweetQuery:
    words: str = ""
    state: str = ""
    presence: str = ""
    source: int | None = None
    tag: str = ""
    author: str = ""
    lang: str = ""
    kind: str = ""  # one of KIND_NAMES
    has: str = ""  # one of HAS_FILTERS
    named: tuple[tuple[str, str], ...] = ()  # such as ("hashtag", "moon"); of NAMED_IN
    age: str = ""
    since: date | None = None
    until: date | None = None
    least: tuple[tuple[str, int], ...] = ()
    min_score: float | None = None  # of views
    min_engagement: float | None = None  # in percent
    sort: Sort = NEWEST_FIRST
    columns: tuple[str, ...] = _DEFAULT_COLUMNS
    is_compact: bool = False  # rows of one line
    before: int | None = None  # Ids: the page begins below `before`, or ends above `after`.
    after: int | None = None
    number: int = 1  # an order other than newest first has numbered pages instead
    # In which `since` and `until` are days: the reader's, which is no part of an address.
    zone: tzinfo = field(default=UTC, compare=False)

    @property
    def narrowed(self) -> bool:
        return bool(self.words or self.filtered)

    @property
    def filtered(self) -> bool:
        return bool(self.state or self.source or self.hidden_filters)

    @property
    def hidden_filters(self) -> bool:
        """Whether filters besides the state and the source are set."""
        return bool(self.age or self.has_form_filters)

    @property
    def has_form_filters(self) -> bool:
        """Whether filters are set that are only in the form behind "Filters"."""
        return bool(
            self.presence or self.tag or self.author or self.lang or self.kind or self.has
            or self.named or self.since or self.until or self.least
            or self.min_score or self.min_engagement
        )  # fmt: skip

    @property
    def is_first(self) -> bool:
        return self.before is None and self.after is None and self.number == 1

    def posted(self, now: datetime) -> tuple[int, int]:
        """The range of ids for the time of posting asked for: the lowest, and the first above."""
        low, high = 0, LARGEST_ID
        if self.age:
            low = _first_id_from(now - AGE_FILTERS[self.age][1])
        if self.since:
            low = max(low, _first_id_from(midnight(self.since, self.zone)))
        if self.until:
            high = _first_id_from(midnight(self.until + timedelta(days=1), self.zone))
        return low, high

    def address(self, **place: Any) -> str:
        """The query of this list, on its first page or at a place in it."""
        there = replace(self, **{"before": None, "after": None, "number": 1, **place})
        params: dict[str, Any] = {
            "q": there.words, "state": there.state, "presence": there.presence,
            "source": there.source, "tag": there.tag, "author": there.author, "lang": there.lang,
            "kind": there.kind, "has": there.has, **dict(there.named),
            "age": there.age, "since": there.since, "until": there.until,
            **{f"min_{metric}": number for metric, number in there.least},
            "min_score": _plain(there.min_score),
            "min_engagement": _plain(there.min_engagement),
            "sort": there.sort.name, "order": "up" if there.sort.up else "",
            "columns": ",".join(there.columns) if there.columns != _DEFAULT_COLUMNS else "",
            "rows": "compact" if there.is_compact else "",
            "before": there.before, "after": there.after,
            "page": there.number if there.number > 1 else None,
        }  # fmt: skip
        address = urlencode({name: value for name, value in params.items() if value})
        # An empty one opens on what stands out.
        return address or "sort=newest"

    @property
    def here(self) -> str:
        return self.address(before=self.before, after=self.after, number=self.number)

    @property
    def in_words(self) -> str:
        """What is asked for, for the name of a file: "tag launch min_likes 100"."""
        plain = replace(self, columns=_DEFAULT_COLUMNS, is_compact=False)
        asked = parse_qsl(plain.address()) if plain != TweetQuery() else []
        return " ".join(value if name == "q" else f"{name} {value}" for name, value in asked)

    def sorted_by(self, by: str) -> TweetQuery:
        """Where a column's heading leads: to this order, then its reverse, then newest first."""
        if self.sort.by != by or self.sort.window:
            return replace(self, sort=Sort(by, up=by in ("author", "next")))
        turned = Sort(by, up=not self.sort.up)
        return replace(
            self, sort=NEWEST_FIRST if turned.up == (by in ("author", "next")) else turned
        )


def parse_query(query: QueryDict) -> TweetQuery:
    """Read the address, ignoring anything invalid in it. Its days are the reader's."""
    state, age = query.get("state", ""), query.get("age", "")
    words = query.get("q", "").replace("\0", "")[:200]
    chosen = [name for part in query.getlist("columns") for name in part.split(",")]
    columns = tuple(name for name in LIST_COLUMNS if name in chosen)
    return TweetQuery(
        # A space after the last word means that the word is complete.
        words=words.lstrip() if words.strip() else "",
        state=state if state in STATES else "",
        presence=presence if (presence := query.get("presence", "")) in Presence.values else "",
        source=parse_id(query.get("source", "")),
        tag=" ".join(query.get("tag", "").replace("\0", "").split())[:60],
        author=query.get("author", "").replace("\0", "").strip()[:60],
        lang=lang if re.fullmatch(r"[a-z]{2,3}", lang := query.get("lang", "").lower()) else "",
        kind=kind if (kind := query.get("kind", "")) in KIND_NAMES else "",
        has=has if (has := query.get("has", "")) in HAS_FILTERS else "",
        named=tuple(
            (name, value) for name in NAMED_IN if (value := plain_name(name, query.get(name, "")))
        ),
        age=age if age in AGE_FILTERS else "",
        since=_parse_day(query.get("since", "")),
        until=_parse_day(query.get("until", "")),
        least=tuple(
            (metric, least)
            for metric in METRICS
            if (least := _parse_number(query.get(f"min_{metric}", "")))
        ),
        min_score=_parse_decimal(query.get("min_score", "")),
        min_engagement=_parse_decimal(query.get("min_engagement", "")),
        sort=_parse_sort(query.get("sort", ""), up=query.get("order") == "up"),
        columns=columns or _DEFAULT_COLUMNS,
        is_compact=query.get("rows") == "compact",
        before=parse_id(query.get("before", "")),
        after=parse_id(query.get("after", "")),
        number=min(_parse_number(query.get("page", "")) or 1, 1000),
        zone=notation.zone(),
    )


def plain_name(kind: str, typed: str) -> str:
    """A name as it is stored, of what was typed: "#Moon", or the address of a page."""
    text = typed.replace("\0", "").strip()[:280]
    return domain_of(text) if kind == "domain" else text.lstrip("#$@").lower()


def _parse_sort(text: str, *, up: bool) -> Sort:
    if text in _SORT_COLUMNS:
        return Sort(text, up=up)
    if match := _SCORE_SORT.fullmatch(text):
        return Sort("score", match[1])
    if match := _GROWTH_SORT.fullmatch(text):
        return Sort(match[1], match[2], Window(int(match[3])))
    return NEWEST_FIRST


def parse_id(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,19}", text) and int(text) <= LARGEST_ID else None


def _parse_number(text: str) -> int | None:
    text = text.replace(",", "").strip()
    return min(int(text), MAX_LEAST) if re.fullmatch(r"[0-9]{1,18}", text) else None


def _parse_decimal(text: str) -> float | None:
    """More than 0, up to a million."""
    text = text.strip().removesuffix("×").removesuffix("%").strip()
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,3})?", text):
        return None
    return min(float(text), 1e6) or None


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _parse_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 2006 <= day.year <= 2100 else None


def _first_id_from(at: datetime) -> int:
    return first_id_at(int(at.timestamp() * 1000))
