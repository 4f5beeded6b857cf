"""The one transaction of a batch of the stream.

fence ─> gaps ─> sources locked ─> SourceTweet ─> tracked ─> paid ─> how far everything is stored
Locks: the stream's row, polls' jobs, sources, authors, tweets, origins with their jobs; each in
the order of ids.
After a crash either all of a batch is there or nothing, and the next start opens a gap for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime

from django.db import transaction

from trackers.arrivals.arrive import arrive
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.sources import days
from trackers.ingest.stream.clock import DATES_ARE_CUT_TO
from trackers.ingest.stream.gaps import open_gaps
from trackers.ingest.stream.lease import Lease, fence, written
from trackers.ingest.stream.lines import StreamBatch, bare
from trackers.ingest.stream.listeners import Listeners
from trackers.ingest.stream.settings import Margins
from trackers.ingest.track import edits, histories, track_chunk
from trackers.money import ledger
from trackers.tweets.newcomers import noting_newcomers
from trackers.tweets.presence import counting_presences
from trackers.tweets.uncounted import noting_uncounted
from trackers.tweets.versions import known_as, learn
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement


@dataclass(frozen=True, slots=True)
class StoredBatch:
    posts: int
    duplicates: int


# A source that was paused or removed meanwhile gets nothing more.
_HOLD = """
    SELECT id FROM trackers_source
    WHERE id = ANY(%(ids)s::bigint[]) AND paused_at IS NULL AND kind = 'stream'
    ORDER BY id FOR NO KEY UPDATE
"""
_YIELD = f"""
    WITH yielded AS (
        INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
        SELECT source_id, tweet_id, now(), false
        FROM unnest(%(sources)s::bigint[], %(tweets)s::bigint[]) AS heard(source_id, tweet_id)
        ORDER BY source_id, tweet_id
        ON CONFLICT DO NOTHING
        RETURNING source_id, tweet_id
    ),
    uncounted AS ({noting_uncounted("SELECT tweet_id AS id FROM yielded")}),
    newcomers AS ({noting_newcomers("SELECT tweet_id AS id FROM yielded")})
    SELECT source_id, tweet_id FROM yielded
"""
_PAY = statement(
    __file__,
    "pay",
    counted=counting_presences("""
        SELECT id, trackers_presence_v1(missing_reason, paid_on) AS before,
               trackers_presence_v1(missing_reason, %(day)s) AS after FROM held
    """),
)
_COUNT = """
    UPDATE trackers_source s
    SET yielded = s.yielded + n.new, again = s.again + n.again,
        latest_id = greatest(s.latest_id, n.newest), polled_at = now()
    FROM unnest(%(ids)s::bigint[], %(new)s::bigint[], %(again)s::bigint[], %(newest)s::bigint[])
        AS n(id, new, again, newest)
    WHERE s.id = n.id
"""
_REACH = """
    UPDATE trackers_stream
    SET stored_until = greatest(stored_until, %(until)s::timestamptz), heard_at = now(),
        lines = lines + %(lines)s, duplicates = duplicates + %(duplicates)s,
        garbled = garbled + %(garbled)s, lease_until = now() + %(lasts)s::interval
    WHERE name = %(name)s AND lease = %(token)s
"""


def store(
    batch: StreamBatch,
    lease: Lease,
    listeners: Listeners,
    margins: Margins,
    *,
    project: int,
    x_now: datetime,
    ids_alone: bool = False,
) -> StoredBatch:
    """Store a batch; DeposedError, with nothing written, when the lease is another process's.

    `x_now`: X's clock. `ids_alone`: without what came with the ids, if the database rejects a post.
    """
    with transaction.atomic():
        fence(lease)
        if batch.garbled:
            # Each garbled line may have held a post.
            span = margins.around(batch.until or x_now, x_now + DATES_ARE_CUT_TO)
            open_gaps(listeners.wanted.values(), span, polled_in=margins.polled_in)
        # X bills older versions separately from those that are followed: count each, to be sure.
        seen = [] if ids_alone else edits(batch.posts.values(), now=x_now)
        batch, older = _by_tweet(batch)
        pairs = _hold(batch)
        new = _yielded(pairs)
        tweets = sorted({tweet for _, tweet in pairs})
        if tweets:
            posts_found = [batch.posts[tweet] for tweet in tweets]
            posts_found = bare(posts_found) if ids_alone else posts_found
            tracked = track_chunk(posts_found, came_from="the stream", learns=False)
            learn(seen, and_lock=tweets)
        reasons = [listeners.name(batch.sources[tweet])[:200] for tweet in tweets]
        day = x_now.date()
        # A garbled line was billed too, if it held a post.
        posts = len(batch.others | (batch.posts.keys() - set(tweets))) + batch.garbled + older
        posts += _pay(tweets, reasons, day=day, project=project)
        if pairs:
            _count_yield(pairs, new, day=day, project=project)
            # Locked after all tweets.
            arrive(sorted(new), described=tracked.described)
        duplicates = batch.again + len(tweets) - len({tweet for _, tweet in new})
        written(
            _REACH,
            lease,
            until=batch.until,
            lines=batch.lines,
            duplicates=duplicates,
            garbled=batch.garbled,
        )
        # Last: the updater's reservations of the day wait for this row.
        ledger.spend(project, day, posts=posts)
    return StoredBatch(len(tweets), duplicates)


def _by_tweet(batch: StreamBatch) -> tuple[StreamBatch, int]:
    """The batch by tweet instead of version; and how many older versions it holds."""
    versions = known_as(batch.posts, histories(batch.posts.values()))
    if not versions:
        return batch, 0
    by_tweet_id: dict[int, FoundTweet] = {}
    sources: dict[int, tuple[int, ...]] = {}
    for id, one in sorted(batch.posts.items()):
        tweet = versions[id].tweet_id if id in versions else id
        by_tweet_id[tweet] = replace(one, id=tweet)
        sources[tweet] = tuple(sorted({*sources.get(tweet, ()), *batch.sources[id]}))
    older = sum(id != known.newest for id, known in versions.items())
    return replace(batch, posts=by_tweet_id, sources=sources), older


def _hold(batch: StreamBatch) -> list[tuple[int, int]]:
    """Lock the sources of the batch; returns each with each of its tweets, in that order."""
    sources = sorted({source for of in batch.sources.values() for source in of})
    if not sources:
        return []
    with cursor() as db:
        active = {row[0] for row in db.execute(_HOLD, {"ids": array(sources)})}
    return sorted(
        (source, tweet) for tweet, of in batch.sources.items() for source in of if source in active
    )


def _yielded(pairs: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of the pairs that are new."""
    if not pairs:
        return set()
    params = {
        "sources": array(source for source, _ in pairs),
        "tweets": array(tweet for _, tweet in pairs),
    }
    with cursor() as db:
        return {(source, tweet) for source, tweet in db.execute(_YIELD, params)}


def _pay(tweets: list[int], reasons: list[str], *, day: date, project: int) -> int:
    """Mark the tweets as paid; returns how many the project had not yet paid for on that day."""
    if not tweets:
        return 0
    with cursor() as db:
        params = {"ids": array(tweets), "reasons": reasons, "day": day, "project": project}
        return db.execute(_PAY, params).rowcount


def _count_yield(
    pairs: list[tuple[int, int]], new: set[tuple[int, int]], *, day: date, project: int
) -> None:
    """Add what the sources yielded, for their pages."""
    sources = sorted({source for source, _ in pairs})
    tweets_by_source = {
        source: [tweet for one, tweet in pairs if one == source] for source in sources
    }
    fresh = {source: sum(one == source for one, _ in new) for source in sources}
    with cursor() as db:
        db.execute(
            _COUNT,
            {
                "ids": array(sources),
                "new": array(fresh.values()),
                "again": array(len(tweets_by_source[source]) - fresh[source] for source in sources),
                "newest": array(max(tweets_by_source[source]) for source in sources),
            },
        )
    came = [
        days.Brought(one, fresh[one], len(tweets_by_source[one]) - fresh[one], billed=fresh[one])
        for one in sources
    ]
    days.count_brought(came, day=day, project=project)
