"""What homes store of tweets as they were first seen, in the metadata of their entries.

first seen text, name ─> `embed` ─> metadata of an entry of `home:…` ─> `kept` ─> beside today's
It is returned only while there is a current text: no home shows what X no longer shows.
`prune_hidden` deletes it from the rows, too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.conf import settings

from trackers.timelines.homes.page import Embedded
from trackers.timelines.locks import lock
from tweetwatch.database import array, compact_sql, cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces

_HOMES_AT_ONCE = 50

# For an edited tweet, the version that was seen first. A name is kept if it is known by then.
FIRST_SEEN = compact_sql("""
    SELECT t.id, coalesce(first.text, x.text), nullif(a.name, '')
    FROM unnest(%(ids)s::bigint[]) AS asked(id)
    CROSS JOIN LATERAL (
        SELECT id, author_id, newest FROM trackers_tweet
        WHERE id = asked.id AND gone_at IS NULL LIMIT 1) t
    CROSS JOIN LATERAL (SELECT text FROM trackers_tweettext WHERE tweet_id = t.id LIMIT 1) x
    LEFT JOIN LATERAL (SELECT name FROM trackers_author WHERE id = t.author_id LIMIT 1) a ON true
    LEFT JOIN LATERAL (
        SELECT text FROM trackers_tweetversion
        WHERE t.newest IS NOT NULL AND tweet_id = t.id AND text IS NOT NULL
        ORDER BY seen_at, id LIMIT 1) first ON true
""")
_IS_SHOWN = """
    coalesce((SELECT gone_at IS NULL FROM trackers_tweet WHERE id = e.entry_id LIMIT 1)
             AND (SELECT true FROM trackers_tweettext WHERE tweet_id = e.entry_id LIMIT 1), false)
"""
SELECT_EMBEDDED = compact_sql(f"""
    SELECT e.entry_id, e.metadata
    FROM unnest(%(ids)s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
        SELECT entry_id, metadata FROM trackers_timelineentry
        WHERE timeline_id = (SELECT id FROM trackers_timeline WHERE name = %(name)s AND live)
          AND entry_id = asked.id AND dead_at IS NULL AND metadata IS NOT NULL LIMIT 1) e
    WHERE {_IS_SHOWN}
""")
# Names are ordered by code points, where ";" follows ":".
_HOMES = f"""
    SELECT name FROM trackers_timeline
    WHERE name > %(after)s AND name < 'home;' AND live ORDER BY name LIMIT {_HOMES_AT_ONCE}
"""
# The timelines are locked.
PRUNE_EMBEDDED = f"""
    UPDATE trackers_timelineentry e SET metadata = NULL
    FROM unnest(%(ids)s::bigint[]) AS a(id)
    WHERE e.timeline_id = ANY(ARRAY[a.id]) AND e.metadata IS NOT NULL AND NOT {_IS_SHOWN}
"""


def metadata_for(ids: Sequence[int], fields: Sequence[str]) -> dict[int, bytes]:
    """Metadata with these fields, for the tweets that have any of them."""
    if not fields:
        return {}
    with cursor() as db:
        rows = db.execute(FIRST_SEEN, {"ids": array(ids)}).fetchall()
    made = {id: _metadata({"text": text, "author": author}, fields) for id, text, author in rows}
    return {id: some for id, some in made.items() if some}


def _metadata(values: dict[str, str | None], fields: Sequence[str]) -> bytes:
    """A text that is too long is left out: a part of it would not be what was seen."""
    known = {name: value for name, value in values.items() if name in fields and value}
    while known:
        metadata = json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode()
        if len(metadata) <= settings.TIMELINE_METADATA_BYTES:
            return metadata
        known.pop("text" if "text" in known else "author")
    return b""


def embedded_in(name: str, ids: Sequence[int], fields: Sequence[str]) -> dict[int, Embedded]:
    """What the timeline of a home stores of these tweets, if X still shows them."""
    if not fields or not ids:
        return {}
    with cursor() as db:
        rows = db.execute(SELECT_EMBEDDED, {"name": name, "ids": array(ids)}).fetchall()
    return {id: _parse_metadata(bytes(metadata), fields) for id, metadata in rows}


def _parse_metadata(metadata: bytes, fields: Sequence[str]) -> Embedded:
    """Parse metadata; bytes of another format, as from another program's snapshot, are ignored."""
    try:
        document = json.loads(metadata)
    except ValueError:
        return Embedded()
    if not isinstance(document, dict):
        return Embedded()
    texts = {name: one for name, one in document.items() if name in fields and isinstance(one, str)}
    return Embedded(text=texts.get("text"), author=texts.get("author"))


def prune_hidden(*, deadline: Deadline) -> PieceWork:
    """Delete from all homes what they store of tweets that X no longer shows."""
    after = "home:"

    def piece() -> int | None:
        nonlocal after
        with cursor() as db:
            names = [name for (name,) in db.execute(_HOMES, {"after": after})]
            if not names:
                return None
            after = names[-1]
            ids = array(one.id for one in lock(names))
            return db.execute(PRUNE_EMBEDDED, {"ids": ids}).rowcount

    return in_pieces("embedded texts", piece, left=lambda: 1, deadline=deadline)
