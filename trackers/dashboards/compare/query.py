"""What the address of a comparison asks for, and what is wrong with it, each in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from urllib.parse import urlencode

from django.http import QueryDict

from trackers.tweets.finding.names import authors_called
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Author
from trackers.tweets.snowflake import LARGEST_ID

MAX_TWEETS = 6
# Of what was pasted; the rest is ignored.
_MAX_WORDS = 100
AGE_RANGES = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
_TWEET_LINK = re.compile(
    r"(?:https?://)?(?:\w+\.)?(?:x|twitter)\.com/\S*?/status(?:es)?/(\d{1,19})(?!\d)\S*"
)


@dataclass(frozen=True, slots=True)
class CompareQuery:
    ids: tuple[int, ...] = ()
    author: int | None = None  # its last tweets are the band
    source: int | None = None  # or those that this one brought
    metric: str = "views"
    until: str = "24h"
    is_log: bool = False
    problems: tuple[str, ...] = field(default=(), compare=False)  # for the person

    def address(self, **changed: object) -> str:
        """The query of this comparison, or of one that differs in this; the same one is always
        written in the same way."""
        query = replace(self, **changed) if changed else self  # type: ignore[arg-type]
        params = {
            "ids": ",".join(map(str, query.ids)),
            "author": query.author,
            "source": query.source,
            "metric": query.metric if query.metric != "views" else "",
            "until": query.until if query.until != "24h" else "",
            "scale": "log" if query.is_log else "",
        }
        return urlencode({name: value for name, value in params.items() if value}, safe=",")

    def without(self, id: int) -> str:
        return self.address(ids=tuple(one for one in self.ids if one != id))


def parse_compare_query(query: QueryDict) -> CompareQuery:
    problems: list[str] = []
    ids: list[int] = []
    for text in _typed_words(query, "ids"):
        if (id := _tweet_id_in(text)) is None:
            problems.append(f"“{text[:60]}” is neither the id of a tweet nor a link to one.")
        elif id not in ids:
            ids.append(id)
    if len(ids) > MAX_TWEETS:
        left_out = len(ids) - MAX_TWEETS
        problems.append(
            f"At most {MAX_TWEETS} tweets can be compared: the last {left_out} "
            f"{'is' if left_out == 1 else 'are'} left out. Remove others to add them."
        )
    source = query.get("source", "").strip()
    if source and _tweet_id_in(source) is None:
        problems.append(f"“{source[:60]}” is not the number of a source.")
    metric, until = query.get("metric", ""), query.get("until", "")
    return CompareQuery(
        ids=tuple(ids[:MAX_TWEETS]),
        author=_author_id_in(query.get("author", "").replace("\0", "").strip(), problems),
        source=_tweet_id_in(source),
        metric=metric if metric in LABELS else "views",
        until=until if until in AGE_RANGES else "24h",
        is_log=query.get("scale") == "log",
        problems=tuple(problems),
    )


def _typed_words(query: QueryDict, name: str) -> Iterator[str]:
    """Whatever was typed, pasted or ticked, between blanks and commas."""
    for value in query.getlist(name):
        words = re.split(r"[\s,;]+", value.replace("\0", ""))
        yield from [word for word in words if word][:_MAX_WORDS]


def _tweet_id_in(text: str) -> int | None:
    link = _TWEET_LINK.fullmatch(text)
    digits = link[1] if link else text
    is_id = re.fullmatch(r"[0-9]{1,19}", digits) and 0 < int(digits) <= LARGEST_ID
    return int(digits) if is_id else None


def _author_id_in(text: str, problems: list[str]) -> int | None:
    """By id, or by @name; a name of digits alone takes its @."""
    if not text:
        return None
    if (id := _tweet_id_in(text)) is not None:
        return id
    name = text.removeprefix("@").lower()
    found = Author.objects.filter(pk__in=authors_called(name).ids)
    exactly = [one.pk for one in found if one.username.lower() == name]
    if not exactly:
        problems.append(f"No author called “{text[:60]}” is known here.")
        return None
    return exactly[0]
