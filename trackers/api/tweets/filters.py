"""The filters of the list of tweets: those of its page, but what makes no sense is refused."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from django.contrib.auth.models import User
from ninja import Schema
from pydantic import Field, StringConstraints

from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import KindName, UnsignedId
from trackers.listing.query import MAX_LEAST, TweetQuery, plain_name
from trackers.listing.saved import parse_view
from trackers.saved_views.models import SavedView
from trackers.tweets.finding import names
from trackers.tweets.finding.named import NAMED_IN
from trackers.tweets.models import METRICS

StateName = Literal[
    "fresh",
    "resting",
    "paused",
    "no_money",
    "missing",
    "not_found",
    "unreadable",
    "gone",
    "isolated",
]
PresenceName = Literal[
    "shown", "not_found", "protected", "suspended", "unauthorized", "unavailable", "unasked"
]
# No author has this id.
_NO_AUTHOR = "0"
Words = Annotated[str, StringConstraints(max_length=200)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=60)]
Author = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^(@?\w{1,50})?$")]
EntityName = Annotated[str, StringConstraints(strip_whitespace=True, max_length=280)]
Lang = Annotated[str, StringConstraints(to_lower=True, pattern="^([A-Za-z]{2,3})?$")]
Day = Annotated[date, Field(ge=date(2006, 1, 1), le=date(2100, 12, 31))]
Decimal = Annotated[float, Field(gt=0, le=1e6)] | None
Least = Annotated[int, Field(ge=0, le=MAX_LEAST)]


class Filters(Schema):
    """`q`: words, an id or address, or @name, as on the page. `presence`: what
    X last said of them; `unasked`: not looked up yet. `source`: the source that brought
    them; `tag`: a tag's name; `author`: an account's id, or @name. `kind`: what kind of post;
    `own`: no reply, quote or retweet. `has`: a link, or a photo or video. `hashtag`, `cashtag`,
    `mention`, `domain`: in the text, as X recognised it. `age`: how long ago at most;
    `since` and `until`: first and last day of posting (UTC). `min_…`: at least this many, as
    last measured; `min_score`: views, at the tweet's last age of the last 31 days, at least so many
    times what is usual; `min_engagement`: of its engagement rate, in percent. `view`: what a saved
    view asks for, by its id, instead of all others."""

    q: Words = ""
    state: StateName | None = None
    presence: PresenceName | None = None
    source: UnsignedId | None = None
    tag: Name = ""
    author: Author = ""
    lang: Lang = ""
    kind: KindName | Literal["own"] | None = None
    has: Literal["link", "media"] | None = None
    hashtag: EntityName = ""
    cashtag: EntityName = ""
    mention: EntityName = ""
    domain: EntityName = ""
    age: Literal["1h", "24h", "7d", "30d"] | None = None
    since: Day | None = None
    until: Day | None = None
    min_retweets: Least = 0
    min_replies: Least = 0
    min_likes: Least = 0
    min_quotes: Least = 0
    min_bookmarks: Least = 0
    min_views: Least = 0
    min_score: Decimal = None
    min_engagement: Decimal = None
    view: UnsignedId | None = None

    def wanted(self, reader: User) -> TweetQuery:
        """Refused where the reader sees no such view."""
        if self.view is not None:
            return self._wanted_by_view(self.view, reader)
        if self.since and self.until and self.since > self.until:
            raise ValueError("since must not be after until.")
        return TweetQuery(
            # A space after the last word says that the word is complete.
            words=self.q.lstrip(),
            state=self.state or "",
            presence=self.presence or "",
            source=self.source,
            tag=" ".join(self.tag.split()),
            author=_author_filter(self.author),
            lang=self.lang,
            kind=self.kind or "",
            has=self.has or "",
            named=tuple(
                (name, value)
                for name in NAMED_IN
                if (value := plain_name(name, getattr(self, name)))
            ),
            age=self.age or "",
            since=self.since,
            until=self.until,
            least=tuple(
                (metric, least) for metric in METRICS if (least := getattr(self, f"min_{metric}"))
            ),
            min_score=self.min_score,
            min_engagement=self.min_engagement,
        )

    def _wanted_by_view(self, id: int, reader: User) -> TweetQuery:
        if more := sorted(self.model_fields_set - {"view"}):
            raise ValueError(f"view: not together with {', '.join(more)}.")
        view = SavedView.objects.seen_by(reader).filter(pk=id).first()
        if view is None:
            raise refusal({"view": [f"You see no saved view {id}."]})
        return parse_view(view.query)


def _author_filter(author: str) -> str:
    """As the page has it. There, the beginning of a name will do where nobody has all of it; with
    an @ a program means exactly this name, and not the tweets of others."""
    is_exact = author.startswith("@")
    return author if not is_exact or names.is_known(author.removeprefix("@")) else _NO_AUTHOR
