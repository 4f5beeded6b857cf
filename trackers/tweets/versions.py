"""The versions of an edited tweet: X gives each an id and counts of its own; here they are one.

shown with its history ─> whose versions are these? ─> one tweet, its texts, the id to ask X for
A tweet keeps the id by which it was tracked first, and all its samples; X is asked for the newest
version. If two versions were tracked before this was known, the first continues and the other
rests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from trackers.tweets.entities import ENTITY_COLUMNS, ENTITY_NAMES, entities_json
from trackers.tweets.uncounted import note_uncounted
from trackers.xapi.results import Post
from tweetwatch.database import Cursor, array, cursor

History = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """A version as X showed it; `post.edit_history` has the ids of all versions."""

    post: Post
    at: datetime


class KnownTweet(NamedTuple):
    """The tweet that a version belongs to, and its newest known version."""

    tweet_id: int
    newest: int


# A tweet by the id of any of its versions: its own id, or a learnt one. Tweets merged into another
# no longer count.
# LATERAL with a LIMIT, here and below: each tweet is found by its key, whatever the statistics say.
# Without statistics a plain join is planned as a scan of all tweets.
MEMBERS = """
    SELECT asked.version, t.id, t.tracked_at, coalesce(t.newest, t.id)
    FROM unnest(%(ids)s::bigint[]) AS asked(version) CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id = asked.version AND version_of IS NULL LIMIT 1) t
    UNION
    SELECT v.id, t.id, t.tracked_at, coalesce(t.newest, t.id)
    FROM trackers_tweetversion v CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id = v.tweet_id AND version_of IS NULL LIMIT 1) t
    WHERE v.id = ANY(%(ids)s::bigint[])
"""
# Runs for everything that comes in; costs one index look-up in a nearly empty table.
KNOWN_AS = """
    SELECT v.id, v.tweet_id, coalesce(t.newest, t.id)
    FROM trackers_tweetversion v CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id = v.tweet_id LIMIT 1) t
    WHERE v.id = ANY(%(ids)s::bigint[])
"""

# Locks all tweets of a history before any is written, in the order of ids, as everywhere.
LOCK_HISTORY = """
    SELECT t.id
    FROM (SELECT DISTINCT unnest(%(ids)s::bigint[] || ARRAY(
              SELECT tweet_id FROM trackers_tweetversion WHERE id = ANY(%(ids)s::bigint[]))) AS id
          ORDER BY id) asked
    CROSS JOIN LATERAL (SELECT id FROM trackers_tweet WHERE id = asked.id FOR UPDATE) t
"""
# The text stored before a tweet was known to be edited belongs to the version with its own id,
# first seen when it was tracked.
_STORE_FIRST_TEXTS = """
    INSERT INTO trackers_tweetversion (id, tweet_id, seen_at, text)
    SELECT t.id, told.tweet_id, t.tracked_at, x.text
    FROM unnest(%(members)s::bigint[], %(of)s::bigint[]) AS told(member, tweet_id)
    JOIN trackers_tweet t ON t.id = told.member AND t.newest IS NULL
    JOIN trackers_tweettext x ON x.tweet_id = t.id
        -- Unless what came with it was a later version already.
        AND coalesce(x.edit_history[cardinality(x.edit_history)], t.id) = t.id
    ORDER BY t.id
    ON CONFLICT (id) DO NOTHING
"""
_STORE_VERSIONS = """
    INSERT INTO trackers_tweetversion AS v (id, tweet_id, seen_at, text)
    SELECT * FROM unnest(%(versions)s::bigint[], %(of)s::bigint[], %(seen_at)s::timestamptz[],
                         %(texts)s::text[]) AS told(id, tweet_id, seen_at, text)
    ORDER BY id
    ON CONFLICT (id) DO UPDATE SET tweet_id = excluded.tweet_id,
        text = coalesce(excluded.text, v.text), seen_at = coalesce(v.seen_at, excluded.seen_at)
"""
# Edited while it is tracked: an edit from before that is no news. Before _SET_NEWEST.
_STORE_EDITS = """
    INSERT INTO trackers_happening (what, tweet_id, at, figures)
    SELECT 'edited', t.id, told.at, jsonb_build_object('versions', told.versions)
    FROM unnest(%(of)s::bigint[], %(newest)s::bigint[], %(at)s::timestamptz[],
                %(versions)s::int[]) AS told(tweet_id, newest, at, versions)
    CROSS JOIN LATERAL (SELECT * FROM trackers_tweet WHERE id = told.tweet_id LIMIT 1) t
    WHERE told.newest > coalesce(t.newest, t.id) AND trackers_born_at_v1(told.newest) > t.tracked_at
"""
# A newer version is not paid for yet: today's payment was for the one before. X has shown the tweet
# all the same, so it stays one that was paid for, on a day that is over everywhere.
_SET_NEWEST = """
    UPDATE trackers_tweet t
    SET newest = greatest(t.newest, told.newest),
        paid_on = CASE WHEN told.newest > coalesce(t.newest, t.id) THEN t.paid_on - 7
                       ELSE t.paid_on END
    FROM unnest(%(of)s::bigint[], %(newest)s::bigint[]) AS told(tweet_id, newest)
    WHERE t.id = told.tweet_id
"""
_REST_MERGED = """
    UPDATE trackers_tweet t SET version_of = told.tweet_id, newest = NULL
    FROM unnest(%(members)s::bigint[], %(of)s::bigint[]) AS told(member, tweet_id)
    WHERE t.id = told.member
"""
_MOVE_VERSIONS = """
    UPDATE trackers_tweetversion v SET tweet_id = told.tweet_id
    FROM unnest(%(members)s::bigint[], %(of)s::bigint[]) AS told(member, tweet_id)
    WHERE v.tweet_id = told.member
"""
_DELETE_TEXTS = "DELETE FROM trackers_tweettext WHERE tweet_id = ANY(%(members)s::bigint[])"
_NEWEST_ENTITIES = ", ".join(
    f"{name} = coalesce(entities.{name}, CASE WHEN x.text = v.text THEN x.{name} END)"
    for name in ENTITY_NAMES
)
# The text shown and searched is that of the newest version, once X has shown it. X's entities come
# only where it was asked for them.
_SHOW_NEWEST_TEXTS = f"""
    UPDATE trackers_tweettext x
    SET text = v.text, edit_history = posted.history::bigint[],
        kind = trackers_kind_v1(x.tweet_id, x.conversation_id, posted.history::bigint[],
                                x.replied_to, x.quoted, x.retweeted, x.media_keys, v.text),
        {_NEWEST_ENTITIES}
    FROM unnest(%(of)s::bigint[], %(histories)s::text[], %(entities)s::text[])
        AS posted(tweet_id, history, entities)
    CROSS JOIN LATERAL {ENTITY_COLUMNS}
    JOIN trackers_tweet t ON t.id = posted.tweet_id
    JOIN trackers_tweetversion v ON v.id = t.newest AND v.text IS NOT NULL
    WHERE x.tweet_id = posted.tweet_id
"""


def known_as(ids: Iterable[int], histories: Mapping[int, History]) -> dict[int, KnownTweet]:
    """Which tweets these ids are versions of; only ids of edited tweets are in the result.

    `histories`: those that came with them. If several untracked versions of one tweet arrive
    together, the one with the lowest id becomes the tweet.
    """
    arrived = set(ids)
    # Shorter ones first: the longest history has the newest version.
    edited = sorted({item for item in histories.values() if len(item) > 1}, key=len)
    with cursor() as db:
        rows = db.execute(KNOWN_AS, {"ids": array(arrived)}).fetchall()
        known = {id: KnownTweet(tweet_id, newest) for id, tweet_id, newest in rows}
        members = (
            _members_of(db, {item for history in edited for item in history}) if edited else {}
        )
    for history in edited:
        tracked = {member for item in history for member in members.get(item, ())}
        first = min(tracked, default=None)
        here = arrived.intersection(history)
        newest = max([history[-1], *(member.newest for member in tracked)])
        for id in here:
            known[id] = KnownTweet(first.id if first else min(here), newest)
    return known


class Member(NamedTuple):
    """A tweet that is tracked by the id of a version; the lowest in order was tracked first."""

    tracked_at: datetime
    id: int
    newest: int


def _members_of(db: Cursor, ids: Iterable[int]) -> dict[int, set[Member]]:
    """The tracked tweets by the ids of their versions."""
    members: dict[int, set[Member]] = {}
    for version, id, tracked_at, newest in db.execute(MEMBERS, {"ids": array(sorted(ids))}):
        members.setdefault(version, set()).add(Member(tracked_at, id, newest))
    return members


def learn(seen: Sequence[SeenVersion], *, and_lock: Iterable[int] = ()) -> frozenset[int]:
    """Merge the versions into one tweet and store their texts; untracked tweets are ignored.

    Returns the tweets that rest from now on.

    Locks: the tweets of all versions, and those that the caller will write in this transaction.
    """
    edited = [version for version in seen if len(version.post.edit_history) > 1]
    if not edited:
        return frozenset()
    ids = {id for version in edited for id in version.post.edit_history}
    with transaction.atomic(), cursor() as db:
        db.execute(LOCK_HISTORY, {"ids": array(ids.union(and_lock))})
        members = _members_of(db, ids)
        # The first version identifies a history, however much of it X reported.
        chains: dict[int, list[SeenVersion]] = {}
        for version in seen:
            if version.post.id in ids:
                first = (
                    version.post.edit_history[0] if version.post.edit_history else version.post.id
                )
                chains.setdefault(first, []).append(version)
        learnt = [chain for versions in chains.values() if (chain := _chain_of(versions, members))]
        _store_chains(db, learnt)
    return frozenset(other for chain in learnt for other in chain.others)


@dataclass(frozen=True, slots=True)
class Chain:
    """All versions of one tweet, oldest first, and what was seen of them."""

    tweet_id: int
    others: tuple[int, ...]  # merged into `tweet_id`
    versions: History
    seen: Mapping[int, SeenVersion]


def _chain_of(
    shown_versions: Sequence[SeenVersion], members: Mapping[int, set[Member]]
) -> Chain | None:
    versions = sorted(
        {id for version in shown_versions for id in (version.post.id, *version.post.edit_history)}
    )
    tracked = sorted({member for id in versions for member in members.get(id, ())})
    if not tracked:
        return None
    first, *others = (member.id for member in tracked)
    return Chain(
        first,
        tuple(others),
        tuple(versions),
        {version.post.id: version for version in shown_versions},
    )


def _store_chains(db: Cursor, chains: Sequence[Chain]) -> None:
    merged = [(other, chain.tweet_id) for chain in chains for other in chain.others]
    merged_params = {"members": [item for item, _ in merged], "of": [of for _, of in merged]}
    all_of_them = {
        "members": merged_params["members"] + [chain.tweet_id for chain in chains],
        "of": merged_params["of"] + [chain.tweet_id for chain in chains],
    }
    db.execute(_STORE_FIRST_TEXTS, all_of_them)
    version_rows = [(id, chain, chain.seen.get(id)) for chain in chains for id in chain.versions]
    db.execute(
        _STORE_VERSIONS,
        {
            "versions": [id for id, _, _ in version_rows],
            "of": [chain.tweet_id for _, chain, _ in version_rows],
            "seen_at": [item.at if item else None for _, _, item in version_rows],
            "texts": [item.post.text if item else None for _, _, item in version_rows],
        },
    )
    if merged:
        for statement in (_MOVE_VERSIONS, _REST_MERGED, _DELETE_TEXTS):
            db.execute(statement, merged_params)
    note_uncounted(all_of_them["members"])
    roots = [chain.tweet_id for chain in chains]
    newest = {"of": roots, "newest": [chain.versions[-1] for chain in chains]}
    seen_at = [max(version.at for version in chain.seen.values()) for chain in chains]
    versions = [len(chain.versions) for chain in chains]
    db.execute(_STORE_EDITS, {**newest, "at": seen_at, "versions": versions})
    db.execute(_SET_NEWEST, newest)
    histories = ["{%s}" % ",".join(map(str, chain.versions)) for chain in chains]  # noqa: UP031
    shown_versions = [chain.seen.get(chain.versions[-1]) for chain in chains]
    entities = [item and entities_json(item.post) for item in shown_versions]
    params = {"of": roots, "histories": histories, "entities": entities}
    db.execute(_SHOW_NEWEST_TEXTS, params)
