"""What a program does to tweets: track, check, pause, resume, untrack; many at once, or one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Schema, Status
from pydantic import Field, StrictBool, StrictStr

from trackers.acts import Act
from trackers.api.tweets.routers import NOT_TRACKED, find_tweet, many, single
from trackers.api.wire.auth import acted, actor_of
from trackers.api.wire.fields import MAX_ITEMS, NO_CONTENT, DigitsOut, Id, UnsignedId
from trackers.ingest.files.acts import track_found
from trackers.ingest.files.judge import doubt_about
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.sources.naming import as_a_source
from trackers.ingest.tweet_ids import ids_in, is_rounded
from trackers.schedule.acts import ADD_TWEET, TWEET_ACTS
from trackers.tweets.models import Tweet, TweetVersion
from tweetwatch.http.json_bodies import Strict
from tweetwatch.http.refusals import Refused

_CAME_FROM = "the API, by {user}"
# More of each text is not given back.
_MAX_ECHOED = 80


class TrackIn(Strict):
    """Ids, or addresses of tweets; with `anyway` also ids that seem to be rounded, or no ids."""

    tweets: Annotated[list[StrictStr], Field(min_length=1, max_length=MAX_ITEMS)]
    anyway: StrictBool = False


class TrackedOut(Schema):
    """`id` is the tweet's own, even if the id of one of its versions was given."""

    input: str
    id: DigitsOut | None
    outcome: Literal["tracked", "already", "rejected"]
    detail: str


class TrackOut(Schema):
    tracked: int
    already: int
    rejected: int
    results: list[TrackedOut]


class IdsIn(Strict):
    ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_ITEMS)]


class ActedOut(Schema):
    """`done` of the `asked` were changed; `missing` are not tracked."""

    asked: int
    done: int
    not_tracked: list[DigitsOut]


@many.post("", response=TrackOut)
def track(request: HttpRequest, body: TrackIn) -> dict[str, Any]:
    """Anything that is neither an id nor an address is rejected; the others are tracked. 422 if
    the ids, judged together, are probably no tweets: if spreadsheets have rounded them."""
    actor = actor_of(request, ADD_TWEET)
    named = {text: ids_in(text) for text in body.tweets}
    doubt = doubt_about([id for each in named.values() if not each.is_address for id in each.ids])
    if doubt and not body.anyway:
        raise Refused(422, f"{doubt}; with `anyway` they are tracked as they are.")
    ids = {text: each.ids[0] if len(each.ids) == 1 else None for text, each in named.items()}
    wanted = sorted({id for id in ids.values() if id is not None})
    known = set(Tweet.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    tweet_of = dict(TweetVersion.objects.filter(pk__in=wanted).values_list("pk", "tweet_id"))
    done = track_found([FoundTweet(id) for id in wanted], actor, came_from=_CAME_FROM)
    tweet_of |= {id: row.tweet_id for id, row in done.versions.items()}
    seen = set(known)
    results = [_track_result(text, ids[text], tweet_of, seen) for text in body.tweets]
    counts = [row["outcome"] for row in results]
    return {
        **{name: counts.count(name) for name in ("tracked", "already", "rejected")},
        "results": results,
    }


def _why_rejected(text: str) -> str:
    if is_rounded(text):
        return "A spreadsheet has rounded this id: its last digits are lost."
    if what := as_a_source(text):
        return f"This {what}."
    return "This is neither the id nor the address of a tweet."


def _track_result(
    text: str, id: int | None, tweet_of: dict[int, int], seen: set[int]
) -> dict[str, Any]:
    """`seen` grows: a tweet that is given twice is tracked once."""
    echoed = text[:_MAX_ECHOED]
    if id is None:
        return {"input": echoed, "id": None, "outcome": "rejected", "detail": _why_rejected(text)}
    tweet = tweet_of.get(id, id)
    if tweet in seen or id in tweet_of:
        return {"input": echoed, "id": tweet, "outcome": "already", "detail": ""}
    seen.add(tweet)
    return {"input": echoed, "id": tweet, "outcome": "tracked", "detail": ""}


def _act_on_many(request: HttpRequest, act: Act, body: IdsIn) -> dict[str, Any]:
    actor = actor_of(request, act.permission)
    asked = list(dict.fromkeys(body.ids))
    tweets = list(Tweet.objects.filter(pk__in=asked))
    count = act.do(tweets, actor).count if tweets else 0
    known = {tweet.pk for tweet in tweets}
    return {
        "asked": len(asked),
        "done": count,
        "not_tracked": [id for id in asked if id not in known],
    }


@many.post("/check", response=ActedOut)
def check_many(request: HttpRequest, body: IdsIn) -> dict[str, Any]:
    """They are looked up next, except paused ones and those being looked up right now."""
    return _act_on_many(request, TWEET_ACTS["check"], body)


@many.post("/pause", response=ActedOut)
def pause_many(request: HttpRequest, body: IdsIn) -> dict[str, Any]:
    """They are not looked up until resumed."""
    return _act_on_many(request, TWEET_ACTS["pause"], body)


@many.post("/resume", response=ActedOut)
def resume_many(request: HttpRequest, body: IdsIn) -> dict[str, Any]:
    return _act_on_many(request, TWEET_ACTS["resume"], body)


@many.post("/untrack", response=ActedOut)
def untrack_many(request: HttpRequest, body: IdsIn) -> dict[str, Any]:
    """They are removed, with their whole histories."""
    return _act_on_many(request, TWEET_ACTS["untrack"], body)


def _find_one(id: int) -> list[Tweet]:
    return [find_tweet(id)]


def _find_exact(id: int) -> list[Tweet]:
    """Not by the id of a version: others know the tweet by another id."""
    tweet = find_tweet(id)
    if tweet.pk != id:
        raise LookupError(NOT_TRACKED.format(id))
    return [tweet]


@single.post("/{id}/check", response=NO_CONTENT)
def check_tweet(request: HttpRequest, id: UnsignedId) -> Status:
    """It is looked up next; 409 if it is paused, or being looked up."""
    return acted(request, TWEET_ACTS["check"], _find_one, id, idempotent=False)


@single.post("/{id}/pause", response=NO_CONTENT)
def pause_tweet(request: HttpRequest, id: UnsignedId) -> Status:
    """It is not looked up until resumed. Idempotent, as is `resume`."""
    return acted(request, TWEET_ACTS["pause"], _find_one, id)


@single.post("/{id}/resume", response=NO_CONTENT)
def resume_tweet(request: HttpRequest, id: UnsignedId) -> Status:
    return acted(request, TWEET_ACTS["resume"], _find_one, id)


@single.delete("/{id}", response=NO_CONTENT)
def untrack_tweet(request: HttpRequest, id: UnsignedId) -> Status:
    """It is removed, with its whole history."""
    return acted(request, TWEET_ACTS["untrack"], _find_exact, id)
