"""Homes in the API: pages, what is new, follows and their counts.

Which home: `me`, or the number of a follower: the token's user, or a team of that user. Each call
takes the permission of the page that shows, or does, the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja import Query, Router, Schema, Status

from trackers.acts import Done
from trackers.api.tweet_bodies import TweetOut, tweets_json
from trackers.api.wire.auth import VIEW_SOURCES, VIEW_TWEETS, home_of, require_permission, user_of
from trackers.api.wire.fields import MAX_ITEMS, NO_CONTENT, DigitsOut, Id, TimeOut
from trackers.history import Actor, by_api
from trackers.ingest.sources.models import Source
from trackers.timelines import acts, homes
from trackers.timelines.followers import Home, follower_of, homes_of
from trackers.timelines.models import Follow, Follower
from trackers.tweets.models import Author
from tweetwatch.clock_times import iso

router = Router(tags=["homes"])


class HomeOut(Schema):
    id: DigitsOut
    kind: Literal["user", "team"]
    name: str


class HomesOut(Schema):
    users: list[HomeOut]


class EmbeddedOut(Schema):
    """As the home kept it when the tweet arrived; without what its settings do not keep."""

    text: str | None = None
    author: str | None = None


class PageOut(Schema):
    """`older` and `newer` are anchors of the next pages; null if there is nothing more.
    `complete`: the home is laid out; `clock` is for `since`."""

    tweets: list[TweetOut]
    older: DigitsOut | None
    newer: DigitsOut | None
    served_by: str
    complete: bool
    clock: str
    embedded: dict[str, EmbeddedOut]


class SinceOut(PageOut):
    """`late`: tweets that belong further down."""

    late: list[DigitsOut]


class FollowOut(Schema):
    """A source or an account; the other is null."""

    source: DigitsOut | None
    account: DigitsOut | None
    followed_at: TimeOut


class FollowingOut(Schema):
    following: list[FollowOut]
    next: DigitsOut | None


class CountOut(Schema):
    count: int


@router.get("/users", response=HomesOut)
def users(request: HttpRequest) -> dict[str, Any]:
    """The followers whose homes this token may read: its user first, then teams."""
    user = require_permission(request, VIEW_TWEETS)
    return {"users": [_home_json(home, user) for home in homes_of(user)]}


@router.get("/users/{follower}/timeline", response=PageOut, exclude_unset=True)
def timeline(
    request: HttpRequest,
    follower: str,
    limit: int = 50,
    anchor: Id | None = None,
    before: Id | None = None,
    after: Id | None = None,
) -> dict[str, Any]:
    """With `anchor`: `limit` tweets older than it, or newer if `limit` is negative. Or `before` or
    `after` a tweet. Always newest first."""
    home = home_of(request, follower)
    if anchor is not None and (before is not None or after is not None):
        raise ValueError("Give only one of anchor, before and after.")
    if limit < 0:
        if before is not None or after is not None:
            raise ValueError("A limit below 0 needs anchor, not before or after.")
        # Newer than the newest: nothing, as in Socialite.
        page = homes.home_page(home, limit=-limit if anchor is not None else 0, after=anchor)
    else:
        older = before if anchor is None else anchor
        page = homes.home_page(home, limit=limit, before=older, after=after)
    return _page_json(page)


@router.get("/users/{follower}/since", response=SinceOut, exclude_unset=True)
def since(
    request: HttpRequest, follower: str, tweet: Id | None = None, clock: str = ""
) -> dict[str, Any]:
    """What came into the home after a tweet, or since the page with this clock was read."""
    page = homes.home_since(home_of(request, follower), tweet, clock=clock)
    return {**_page_json(page), "late": [str(id) for id in page.ids if id in page.late]}


@router.get("/users/{follower}/following", response=FollowingOut)
def following(
    request: HttpRequest,
    follower: str,
    after: Id | None = None,
    limit: int = Query(100, ge=0, le=MAX_ITEMS),
) -> dict[str, Any]:
    """Followed sources by id, then accounts, in a fixed order; pass `next` as `after`."""
    follows = Follow.objects.filter(follower_id=home_of(request, follower)).order_by("origin_id")
    if after is not None:
        follows = follows.filter(origin_id__gt=after)
    fetched = list(follows[: limit + 1])
    rows = fetched[:limit]
    return {
        "following": [_follow_json(follow) for follow in rows],
        "next": str(rows[-1].origin_id) if rows and len(fetched) > limit else None,
    }


@router.get("/users/{follower}/following_count", response=CountOut)
def following_count(request: HttpRequest, follower: str) -> dict[str, int]:
    return {"count": Follow.objects.filter(follower_id=home_of(request, follower)).count()}


@router.put("/users/{follower}/following/{source}", response=NO_CONTENT)
def follow_source(request: HttpRequest, follower: str, source: Id) -> Status:
    require_permission(request, VIEW_SOURCES)
    return _act(request, acts.follow, follower, _source_of(source))


@router.delete("/users/{follower}/following/{source}", response=NO_CONTENT)
def unfollow_source(request: HttpRequest, follower: str, source: Id) -> Status:
    require_permission(request, VIEW_SOURCES)
    return _act(request, acts.unfollow, follower, _source_of(source))


@router.put("/users/{follower}/following/accounts/{account}", response=NO_CONTENT)
def follow_account(request: HttpRequest, follower: str, account: Id) -> Status:
    """The account need not be polled: its tweets count whichever source brings them."""
    return _act(request, acts.follow, follower, _account_of(account))


@router.delete("/users/{follower}/following/accounts/{account}", response=NO_CONTENT)
def unfollow_account(request: HttpRequest, follower: str, account: Id) -> Status:
    return _act(request, acts.unfollow, follower, _account_of(account))


def _act(
    request: HttpRequest,
    act: Callable[[Follower, Source | Author, Actor], Done],
    follower: str,
    origin: Source | Author,
) -> Status:
    act(Follower.objects.get(pk=home_of(request, follower)), origin, by_api(user_of(request)))
    return Status(204, None)


def _source_of(id: int) -> Source:
    """The act says whether there is one."""
    return Source.objects.filter(pk=id).first() or Source(pk=id)


def _account_of(id: int) -> Author:
    return Author.objects.filter(pk=id).first() or Author(pk=id)


@router.get("/sources/{source}/followers_count", response=CountOut)
def followers_of_source(request: HttpRequest, source: Id) -> dict[str, int]:
    require_permission(request, VIEW_SOURCES)
    return {"count": Follow.objects.filter(origin_id=homes.origin_of(source, None)).count()}


@router.get("/accounts/{account}/followers_count", response=CountOut)
def followers_of_account(request: HttpRequest, account: Id) -> dict[str, int]:
    require_permission(request, VIEW_TWEETS)
    return {"count": Follow.objects.filter(origin_id=homes.origin_of(None, account)).count()}


def _home_json(home: Home, user: User) -> dict[str, str]:
    kind, name = ("team", home.name) if home.team_id else ("user", user.get_username())
    return {"id": str(follower_of(home, user)), "kind": kind, "name": name}


def _follow_json(follow: Follow) -> dict[str, str | None]:
    return {
        "source": str(follow.source_id) if follow.source_id else None,
        "account": str(follow.author_id) if follow.author_id else None,
        "followed_at": iso(follow.followed_at),
    }


def _page_json(page: homes.Page) -> dict[str, Any]:
    return {
        "tweets": tweets_json(page.ids),
        "older": None if page.older is None else str(page.older),
        "newer": None if page.newer is None else str(page.newer),
        "served_by": page.served_by,
        "complete": page.complete,
        "clock": page.clock,
        "embedded": {str(id): _embedded_json(one) for id, one in page.embedded.items()},
    }


def _embedded_json(embedded: homes.Embedded) -> dict[str, str]:
    known = {"text": embedded.text, "author": embedded.author}
    return {name: value for name, value in known.items() if value is not None}
