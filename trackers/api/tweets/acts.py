"""What a program does to tweets: track, refresh, pause, resume, untrack; many at once, or one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Schema, Status
from pydantic import Field, StrictStr

from trackers import history
from trackers.api.tweets.found import NOT_TRACKED, find
from trackers.api.tweets.routers import many, single
from trackers.api.wire.auth import may
from trackers.api.wire.errors import Refused
from trackers.api.wire.fields import MOST, Id, Known, Strict
from trackers.api.wire.outgoing import DigitsOut
from trackers.ingest.found import Found, id_of, is_rounded
from trackers.ingest.track_all import track_all
from trackers.schedule import steer
from trackers.tweets.models import Tweet, TweetVersion

DONE: dict[Any, Any] = {204: None}
CAME_FROM = "the API, by {}"
# More of each text is not given back.
SHOWN = 80


class TrackIn(Strict):
    """Ids, or addresses of tweets."""

    tweets: Annotated[list[StrictStr], Field(min_length=1, max_length=MOST)]


class TrackedOut(Schema):
    """`id` is the tweet's own, even if the id of one of its versions was given."""

    given: str
    id: DigitsOut | None
    outcome: Literal["tracked", "already", "rejected"]
    detail: str


class TrackOut(Schema):
    tracked: int
    already: int
    rejected: int
    results: list[TrackedOut]


class IdsIn(Strict):
    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST)]


class ActedOut(Schema):
    """`done` of the `asked` were changed; `missing` are not tracked."""

    asked: int
    done: int
    missing: list[DigitsOut]


@dataclass(frozen=True, slots=True)
class Act:
    do: Callable[[Iterable[int]], int]
    permission: str
    recorded: str
    flag: int = history.CHANGE


ACTS = {
    "refresh": Act(steer.refresh_now, "trackers.change_tweet", "Refresh, by the API."),
    "pause": Act(steer.pause, "trackers.change_tweet", "Pause, by the API."),
    "resume": Act(steer.resume, "trackers.change_tweet", "Resume, by the API."),
    "untrack": Act(
        steer.untrack, "trackers.delete_tweet", "Untrack, by the API.", history.DELETION
    ),
}
NOT_REFRESHED = "Not refreshed: it is paused, or being checked right now."


@many.post("", response=TrackOut)
def track(request: HttpRequest, given: TrackIn) -> dict[str, Any]:
    """Anything that is neither an id nor an address is rejected; the others are tracked."""
    user = may(request, "trackers.add_tweet")
    ids = {text: id_of(text) for text in given.tweets}
    wanted = sorted({id for id in ids.values() if id is not None})
    known = set(Tweet.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    tweet_of = dict(TweetVersion.objects.filter(pk__in=wanted).values_list("pk", "tweet_id"))
    done = track_all([Found(id) for id in wanted], came_from=CAME_FROM.format(user.get_username()))
    tweet_of |= {id: one.tweet_id for id, one in done.versions.items()}
    history.record_many(user, Tweet, done.tracked, "Tracked, by the API.", flag=history.ADDITION)
    seen = set(known)
    results = [outcome(text, ids[text], tweet_of, seen) for text in given.tweets]
    counts = [one["outcome"] for one in results]
    return {
        **{name: counts.count(name) for name in ("tracked", "already", "rejected")},
        "results": results,
    }


def outcome(text: str, id: int | None, tweet_of: dict[int, int], seen: set[int]) -> dict[str, Any]:
    """`seen` grows: a tweet that is given twice is tracked once."""
    given = text[:SHOWN]
    if id is None:
        why = (
            "A spreadsheet has rounded this id: its last digits are lost."
            if is_rounded(text)
            else "This is neither the id nor the address of a tweet."
        )
        return {"given": given, "id": None, "outcome": "rejected", "detail": why}
    tweet = tweet_of.get(id, id)
    if tweet in seen or id in tweet_of:
        return {"given": given, "id": tweet, "outcome": "already", "detail": ""}
    seen.add(tweet)
    return {"given": given, "id": tweet, "outcome": "tracked", "detail": ""}


def on_many(request: HttpRequest, act: Act, given: IdsIn) -> dict[str, Any]:
    user = may(request, act.permission)
    asked = list(dict.fromkeys(given.ids))
    found = list(Tweet.objects.filter(pk__in=asked))
    done = act.do(one.pk for one in found)
    if done:
        history.record(user, found, act.recorded, flag=act.flag)
    known = {one.pk for one in found}
    return {"asked": len(asked), "done": done, "missing": [id for id in asked if id not in known]}


@many.post("/refresh", response=ActedOut)
def refresh_many(request: HttpRequest, given: IdsIn) -> dict[str, Any]:
    """They are looked up next, except paused ones and those being looked up right now."""
    return on_many(request, ACTS["refresh"], given)


@many.post("/pause", response=ActedOut)
def pause_many(request: HttpRequest, given: IdsIn) -> dict[str, Any]:
    """They are not looked up until resumed."""
    return on_many(request, ACTS["pause"], given)


@many.post("/resume", response=ActedOut)
def resume_many(request: HttpRequest, given: IdsIn) -> dict[str, Any]:
    return on_many(request, ACTS["resume"], given)


@many.post("/untrack", response=ActedOut)
def untrack_many(request: HttpRequest, given: IdsIn) -> dict[str, Any]:
    """They are removed, with their whole histories."""
    return on_many(request, ACTS["untrack"], given)


def on_one(request: HttpRequest, act: Act, id: int) -> int:
    user = may(request, act.permission)
    found = find(id)
    done = act.do([found.pk])
    if done:
        history.record(user, [found], act.recorded, flag=act.flag)
    return done


@single.post("/{id}/refresh", response=DONE)
def refresh_tweet(request: HttpRequest, id: Known) -> Status:
    """It is looked up next; 409 if it is paused, or being looked up."""
    if not on_one(request, ACTS["refresh"], id):
        raise Refused(409, NOT_REFRESHED)
    return Status(204, None)


@single.post("/{id}/pause", response=DONE)
def pause_tweet(request: HttpRequest, id: Known) -> Status:
    """It is not looked up until resumed. Idempotent, as is `resume`."""
    on_one(request, ACTS["pause"], id)
    return Status(204, None)


@single.post("/{id}/resume", response=DONE)
def resume_tweet(request: HttpRequest, id: Known) -> Status:
    on_one(request, ACTS["resume"], id)
    return Status(204, None)


@single.delete("/{id}", response=DONE)
def untrack_tweet(request: HttpRequest, id: Known) -> Status:
    """It is removed, with its whole history."""
    user = may(request, ACTS["untrack"].permission)
    found = find(id)
    if found.pk != id:
        # The id of a version names a tweet that others know by another id.
        raise LookupError(NOT_TRACKED.format(id))
    history.record(user, [found], ACTS["untrack"].recorded, flag=history.DELETION)
    steer.untrack([found.pk])
    return Status(204, None)
