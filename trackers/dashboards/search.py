"""What the address of the tweets page asks for, and the page of tweets that answers it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import QueryDict

from trackers.dashboards.state import STATES, in_state
from trackers.tweets.models import Tweet

PAGE = 50
LARGEST_ID = 2**63 - 1

AN_ID = re.compile(r"(?:https?://\S+/status(?:es)?/)?(\d{1,19})(?:[/?#]\S*)?")


@dataclass(frozen=True, slots=True)
class Wanted:
    """`before` and `after` are ids: the page begins below the one, or ends above the other."""

    words: str = ""
    state: str = ""
    before: int | None = None
    after: int | None = None

    @property
    def narrowed(self) -> bool:
        return bool(self.words or self.state)

    def address(self, *, before: int | None = None, after: int | None = None) -> str:
        """The query of this search, on another page of it."""
        given = {"q": self.words, "state": self.state, "before": before, "after": after}
        return urlencode({name: value for name, value in given.items() if value})

    @property
    def here(self) -> str:
        return self.address(before=self.before, after=self.after)


@dataclass(frozen=True, slots=True)
class Page:
    """Tweets, newest first. `older` and `newer` are queries of the neighbouring pages, or empty."""

    tweets: list[Tweet]
    older: str
    newer: str


def wanted(query: QueryDict) -> Wanted:
    """Read the address; what it says that makes no sense is as if it were not there."""
    state = query.get("state", "")
    return Wanted(
        words=query.get("q", "").replace("\0", "").strip()[:200],
        state=state if state in STATES else "",
        before=an_id(query.get("before", "")),
        after=an_id(query.get("after", "")),
    )


def an_id(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,19}", text) and int(text) <= LARGEST_ID else None


def page(wanted: Wanted) -> Page:
    """One page by keyset: as quick at the millionth tweet as at the first."""
    tweets = in_state(named(Tweet.objects.all(), wanted.words), wanted.state)
    tweets = tweets.select_related("author", "tweettext")
    if wanted.after is not None:
        found = list(tweets.filter(pk__gt=wanted.after).order_by("pk")[: PAGE + 1])
        more, shown = len(found) > PAGE, found[:PAGE][::-1]
        return Page(
            shown,
            older=wanted.address(before=shown[-1].pk) if shown else "",
            newer=wanted.address(after=shown[0].pk) if more else "",
        )
    if wanted.before is not None:
        tweets = tweets.filter(pk__lt=wanted.before)
    found = list(tweets.order_by("-pk")[: PAGE + 1])
    more, shown = len(found) > PAGE, found[:PAGE]
    return Page(
        shown,
        older=wanted.address(before=shown[-1].pk) if more else "",
        newer=wanted.address(after=shown[0].pk) if wanted.before is not None and shown else "",
    )


def named(tweets: QuerySet[Tweet], words: str) -> QuerySet[Tweet]:
    """By id or link, by @author, or by words of the text or the author's name."""
    if not words:
        return tweets
    if found := AN_ID.fullmatch(words):
        return tweets.filter(pk=min(int(found[1]), LARGEST_ID))
    if words.startswith("@") and " " not in words:
        return tweets.filter(author__username__iexact=words[1:])
    return tweets.filter(
        Q(tweettext__text__icontains=words)
        | Q(author__username__icontains=words)
        | Q(author__name__icontains=words)
    )
