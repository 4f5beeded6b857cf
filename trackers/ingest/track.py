"""The starter: tweets come in, are stored, and get their first look-up scheduled.

Found ─> whose version is it? ─> rows in chunks ─> described, and a first sample ─> the queue
                                            └─ somebody subscribes ─> events
A chunk is one transaction: after a crash each tweet is either tracked and scheduled, or neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction

from trackers.arrivals.arrive import arrive
from trackers.ingest.found_tweets import FoundTweet
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.outbox.staging import SELECT_TWEETS_TOPIC, STAGED, TOPIC
from trackers.schedule import intervals
from trackers.schedule.intervals import Plan, jittered
from trackers.tweets.describe import describe
from trackers.tweets.presence import counting_presences
from trackers.tweets.record import Measured, record, unmeasured_at
from trackers.tweets.snowflake import born_at, has_time
from trackers.tweets.uncounted import noting_uncounted
from trackers.tweets.versions import KnownTweet, SeenVersion, known_as, learn
from trackers.xapi.results import Post
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

CHUNK = 20_000
# The planner expects only a few rows and scans all the measured ones for each: a whole chunk at
# once takes half a minute, once its plan is cached.
_MEASURED_AT_ONCE = 500

_ARRIVE = statement(
    __file__,
    "arrive",
    topic=TOPIC,
    tweets=SELECT_TWEETS_TOPIC,
    staged=STAGED,
    counted=counting_presences("SELECT id, NULL AS before, 'unasked' AS after FROM arrived"),
    uncounted=noting_uncounted("SELECT id FROM arrived"),
)


@dataclass(frozen=True, slots=True)
class Tracked:
    tracked: int
    already: int
    # Version of an edited tweet ─> the tweet.
    versions: Mapping[int, KnownTweet] = field(default_factory=dict)
    described: frozenset[int] = frozenset()  # tweets whose author has become known


def track(tweets: Iterable[FoundTweet], *, came_from: str) -> Iterator[Tracked]:
    """Track what was found, a chunk at a time; the counts of each chunk once it is committed."""
    iterator = iter(tweets)
    while chunk := list(islice(iterator, CHUNK)):
        yield track_chunk(chunk, came_from=came_from)


def track_chunk(
    chunk: list[FoundTweet], *, came_from: str, learns: bool = True, paused: bool = False
) -> Tracked:
    """Track one chunk. Without `learns`, the caller, which locks more tweets later, then records
    edits, what came from followed accounts, and measurements of what was tracked before itself.
    `paused`: nothing is scheduled until a person resumes the new ones."""
    with transaction.atomic():
        now, plan = intervals.current()
        versions = known_as((one.id for one in chunk), histories(chunk))
        by_id = _by_tweet(chunk, versions)
        with cursor() as db:
            ids = array(sorted(by_id))
            db.execute(_ARRIVE, {"ids": ids, "came_from": came_from[:200], "paused": paused})
            new = {row[0] for row in db}
        brought = {id: one.post for id, one in by_id.items() if one.post and id in new}
        describe([post._replace(id=id) for id, post in brought.items()])
        tweet_of = {id: known.tweet_id for id, known in versions.items()}
        named = (replace(one, id=tweet_of.get(one.id, one.id)) for one in chunk)
        _record_dated([one for one in named if learns or one.id in new], plan, now=now)
        queue.schedule_many(
            TWEET_UPDATE,
            () if paused else _first_lookups(by_id, new, plan, now=now),
            urgent={id for id in new if plan.is_urgent(plan.tier(born_at(id), now=now))},
        )
        if learns:
            learn(edits(chunk, now=now))
            arrive((), described=brought)
    return Tracked(len(new), len(chunk) - len(new), versions, frozenset(brought))


def _record_dated(tweets: Iterable[FoundTweet], plan: Plan, *, now: datetime) -> None:
    """Counts become samples only where it is known when they were measured.

    Those of earlier times become history, of tweets that are tracked already too; what is known of
    such a time, from an earlier reading of the file or from a look-up of ours, stays as it is.
    """
    dated = (one for one in tweets if one.post and one.retrieved_at and has_figures(one.post))
    each = [_measured(tweet, plan, now=now) for tweet in dated]
    by_time = {(measured.tweet_id, measured.at): measured for measured in each}
    if not by_time:
        return
    rounds: dict[int, list[Measured]] = {}
    counts: dict[int, int] = {}
    # The newest of each tweet first: it is the tweet's newest sample, and publishes what changed;
    # the earlier ones are belated, and publish nothing.
    for key in sorted(unmeasured_at(by_time), key=lambda key: key[1], reverse=True):
        place = counts[key[0]] = counts.get(key[0], -1) + 1
        rounds.setdefault(place, []).append(by_time[key])
    for measured in rounds.values():
        measured.sort(key=lambda each: each.tweet_id)
        for start in range(0, len(measured), _MEASURED_AT_ONCE):
            record(measured[start : start + _MEASURED_AT_ONCE])


def histories(tweets: Iterable[FoundTweet]) -> dict[int, tuple[int, ...]]:
    return {one.id: one.post.edit_history for one in tweets if one.post}


def _by_tweet(
    chunk: Iterable[FoundTweet], versions: Mapping[int, KnownTweet]
) -> dict[int, FoundTweet]:
    """What was found, by tweet: its newest version, from the last line that had its metrics; from
    one that says when they were measured, if any does."""
    ordered = sorted(
        chunk,
        key=lambda one: (
            one.post is not None,
            one.post.id if one.post else 0,
            one.retrieved_at is not None,
        ),
    )
    if not versions:
        return {one.id: one for one in ordered}
    ids = {id: known.tweet_id for id, known in versions.items()}
    return {id: replace(one, id=id) for one in ordered for id in (ids.get(one.id, one.id),)}


def edits(tweets: Iterable[FoundTweet], *, now: datetime) -> list[SeenVersion]:
    """Versions as X showed them; empty if no tweet has several."""
    with_posts = [one for one in tweets if one.post]
    if all(len(one.post.edit_history) < 2 for one in with_posts if one.post):
        return []
    return [
        SeenVersion(one.post, min(one.retrieved_at or now, now)) for one in with_posts if one.post
    ]


def _first_lookups(
    by_id: dict[int, FoundTweet], new: set[int], plan: Plan, *, now: datetime
) -> Iterator[tuple[int, timedelta]]:
    """A bare id is due at once, and so is one whose counts are undated; one that came measured,
    when its age requires it, if ever."""
    for id, tweet in by_id.items():
        if id not in new:
            continue
        if tweet.post is None or tweet.retrieved_at is None or not has_figures(tweet.post):
            yield id, timedelta(0)
        elif tier := plan.tier(_posted_at(tweet.post), now=now):
            age = now - (_posted_at(tweet.post) or now)
            yield id, jittered(tier, tier.wait(age, plan.stretch))


def _posted_at(post: Post) -> datetime | None:
    """A table's row has the counts and the id, which says it too."""
    return post.created_at or (born_at(post.id) if has_time(post.id) else None)


def has_figures(post: Post) -> bool:
    figures = post.figures
    return figures.likes is not None or figures.retweets is not None


def _measured(tweet: FoundTweet, plan: Plan, *, now: datetime) -> Measured:
    assert tweet.post is not None
    assert tweet.retrieved_at is not None
    tier = plan.tier(_posted_at(tweet.post), now=now)
    return Measured(
        tweet_id=tweet.id,
        at=min(tweet.retrieved_at, now),
        figures=tweet.post.figures,
        hole_after=plan.hole_after(tier) if tier else None,
    )
