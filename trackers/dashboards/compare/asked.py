"""What the address of a comparison asks for, and what is wrong with it, each in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from urllib.parse import urlencode

from django.http import QueryDict

from trackers.dashboards.tweet_rows import LABELS
from trackers.tweets.finding.names import called
from trackers.tweets.models import Author
from trackers.tweets.snowflake import LARGEST_ID

TWEETS_MOST = 6
# Of what was pasted; the rest is ignored.
WORDS_MOST = 100
UNTIL = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
LINK = re.compile(
    r"(?:https?://)?(?:\w+\.)?(?:x|twitter)\.com/\S*?/status(?:es)?/(\d{1,19})(?!\d)\S*"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """`author` and `source`: whose last tweets are the band. `problems` are for the person."""

    ids: tuple[int, ...] = ()
    author: int | None = None
    source: int | None = None
    metric: str = "impressions"
    until: str = "24h"
    is_log: bool = False
    problems: tuple[str, ...] = field(default=(), compare=False)

    def address(self, **changed: object) -> str:
        """The query of this comparison, or of one that differs in this; the same one is always
        written in the same way."""
        one = replace(self, **changed) if changed else self  # type: ignore[arg-type]
        given = {
            "ids": ",".join(map(str, one.ids)),
            "author": one.author,
            "source": one.source,
            "metric": one.metric if one.metric != "impressions" else "",
            "until": one.until if one.until != "24h" else "",
            "scale": "log" if one.is_log else "",
        }
        return urlencode({name: value for name, value in given.items() if value}, safe=",")

    def without(self, id: int) -> str:
        return self.address(ids=tuple(one for one in self.ids if one != id))


def asked_of(query: QueryDict) -> Asked:
    problems: list[str] = []
    ids: list[int] = []
    for text in words_of(query, "ids"):
        if (id := an_id(text)) is None:
            problems.append(f"“{text[:60]}” is neither the id of a tweet nor a link to one.")
        elif id not in ids:
            ids.append(id)
    if len(ids) > TWEETS_MOST:
        left_out = len(ids) - TWEETS_MOST
        problems.append(
            f"At most {TWEETS_MOST} tweets can be compared: the last {left_out} "
            f"{'is' if left_out == 1 else 'are'} left out. Remove others to add them."
        )
    source = query.get("source", "").strip()
    if source and an_id(source) is None:
        problems.append(f"“{source[:60]}” is not the number of a source.")
    metric, until = query.get("metric", ""), query.get("until", "")
    return Asked(
        ids=tuple(ids[:TWEETS_MOST]),
        author=author_of(query.get("author", "").replace("\0", "").strip(), problems),
        source=an_id(source),
        metric=metric if metric in LABELS else "impressions",
        until=until if until in UNTIL else "24h",
        is_log=query.get("scale") == "log",
        problems=tuple(problems),
    )


def words_of(query: QueryDict, name: str) -> Iterator[str]:
    """Whatever was typed, pasted or ticked, between blanks and commas."""
    for given in query.getlist(name):
        words = re.split(r"[\s,;]+", given.replace("\0", ""))
        yield from [word for word in words if word][:WORDS_MOST]


def an_id(text: str) -> int | None:
    found = LINK.fullmatch(text)
    digits = found[1] if found else text
    is_id = re.fullmatch(r"[0-9]{1,19}", digits) and 0 < int(digits) <= LARGEST_ID
    return int(digits) if is_id else None


def author_of(text: str, problems: list[str]) -> int | None:
    """By id, or by @name; a name of digits alone takes its @."""
    if not text:
        return None
    if (id := an_id(text)) is not None:
        return id
    name = text.removeprefix("@").lower()
    found = Author.objects.filter(pk__in=called(name).ids)
    exactly = [one.pk for one in found if one.username.lower() == name]
    if not exactly:
        problems.append(f"No author called “{text[:60]}” is known here.")
        return None
    return exactly[0]
