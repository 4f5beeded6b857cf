"""Samples and tweets as lines, streamed from the database: memory does not grow with their number.

COPY ... TO STDOUT on a snapshot of its own ─> JSONL or CSV, in blocks
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from django.db import transaction
from psycopg import sql

from trackers.tweets.history import EVERY_RUN
from trackers.tweets.models import METRICS
from tweetwatch.database import Cursor, cursor

Format = Literal["jsonl", "csv"]
_BLOCK_SIZE = 64 * 1024

_ISO = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"

# Sorted before the lines are made: otherwise all lines of all tweets are made before the first one
# is sent.
_RUNS = f"(SELECT * FROM ({EVERY_RUN}) AS run WHERE {{chosen}} {{order}}) AS run"
IN_ORDER = sql.SQL("ORDER BY run.tweet_id, run.taken_at")

# Ids are strings: a JSON reader would round numbers of this size.
SAMPLE_ROWS = f"""
    SELECT tweet_id::text AS tweet_id, {_ISO.format("taken_at")} AS taken_at,
           {_ISO.format("measured_until")} AS measured_until, measurements, {", ".join(METRICS)}
    FROM {_RUNS}
"""
_MEMBER = "',\"{0}\":', coalesce({0}::text, 'null')"
# Concatenated, since nothing here needs escaping: row_to_json takes 1.4 times as long.
SAMPLE_LINES = f"""
    SELECT concat('{{{{"tweet_id":"', tweet_id, '","taken_at":"', {_ISO.format("taken_at")},
                  '","measured_until":"', {_ISO.format("measured_until")},
                  '","measurements":', measurements,
                  {", ".join(_MEMBER.format(metric) for metric in METRICS)},
                  '}}}}')
    FROM {_RUNS}
"""
# A tag has no comma in its name.
_TAGS = """(
        SELECT string_agg(g.name, ', ' ORDER BY lower(g.name)) FROM trackers_tweettag tt
        JOIN trackers_tag g ON g.id = tt.tag_id AND g.ended_at IS NULL WHERE tt.tweet_id = t.id)"""
_TWEET_ROWS = f"""
    SELECT t.id::text AS tweet_id, t.author_id::text AS author_id, a.username AS author,
           {_ISO.format("t.created_at")} AS created_at, {_ISO.format("t.tracked_at")} AS tracked_at,
           t.came_from, t.paused, {_TAGS} AS tags, {_ISO.format("t.gone_at")} AS gone_at,
           t.missing_reason AS missing_because,
           x.text, x.lang, t.newest::text AS newest_version, t.version_of::text AS version_of,
           t.withheld, x.conversation_id::text AS conversation_id,
           x.replied_to::text AS replied_to, x.quoted::text AS quoted,
           x.retweeted::text AS retweeted, x.media_keys, {_ISO.format("t.taken_at")} AS taken_at,
           {_ISO.format("t.measured_until")} AS measured_until, t.measurements,
           {", ".join(f"t.{metric}" for metric in METRICS)}
    FROM trackers_tweet t
    LEFT JOIN trackers_tweettext x ON x.tweet_id = t.id
    LEFT JOIN trackers_author a ON a.id = t.author_id
    WHERE {{chosen}} ORDER BY t.id
"""

# A spreadsheet evaluates a cell that begins like a formula; a leading apostrophe makes it text, as
# in `tweetwatch.tables`.
_FORMULA = "^[-=+@＝＋－＠\\t\\r\\n]"
_GUARD = f"CASE WHEN {{0}} ~ '{_FORMULA}' THEN '''' || {{0}} ELSE {{0}} END AS {{1}}"
_GUARDED_TWEETS = (
    _TWEET_ROWS.replace("x.text,", _GUARD.format("x.text", "text") + ",")
    .replace("t.came_from,", _GUARD.format("t.came_from", "came_from") + ",")
    .replace("a.username AS author,", _GUARD.format("a.username", "author") + ",")
)
# As the pages write it: COPY itself would say t and f.
_GUARDED_TWEETS = _GUARDED_TWEETS.replace("t.paused,", "t.paused::text AS paused,").replace(
    _TAGS, rf"regexp_replace({_TAGS}, '({_FORMULA})', '''\1')"
)

_TWEET_LINES = f"SELECT row_to_json(rows) FROM ({_TWEET_ROWS}) rows"


def export_samples(ids: Sequence[int], *, format: Format) -> Iterator[bytes]:
    """Every sample of these tweets, by tweet and time; without ids, of all tweets, unordered."""
    query = SAMPLE_ROWS if format == "csv" else SAMPLE_LINES
    return _stream_blocks(query, "run.tweet_id", ids, format)


def export_tweets(ids: Sequence[int], *, format: Format) -> Iterator[bytes]:
    """These tweets, or all, with their newest metrics."""
    return _stream_blocks(_GUARDED_TWEETS if format == "csv" else _TWEET_LINES, "t.id", ids, format)


def _stream_blocks(query: str, column: str, ids: Sequence[int], format: Format) -> Iterator[bytes]:
    """Blocks of whole lines. Holds a transaction for as long as the caller reads."""
    chosen = sql.SQL("true")
    if ids:
        chosen = sql.SQL("{} = ANY({})").format(sql.SQL(column), sql.Literal(list(ids)))  # type: ignore[assignment]
    rows = sql.SQL(query).format(chosen=chosen, order=IN_ORDER if ids else sql.SQL(""))
    copy = _COPY[format].format(rows=rows)
    with transaction.atomic(), cursor() as db:
        db.execute(_IN_PARALLEL)
        yield from _copy_blocks(db, copy)


def _copy_blocks(db: Cursor, copy: sql.Composed) -> Iterator[bytes]:
    with db.copy(copy) as stream:
        block = bytearray()
        for line in stream:
            block += line
            if len(block) >= _BLOCK_SIZE:
                yield bytes(block)
                block.clear()
        if block:
            yield bytes(block)


# The planner assumes that building a line is nearly free and passing it on is expensive; the
# opposite is true. With these settings parallel workers build the lines of a large export.
_IN_PARALLEL = """
    SELECT set_config('parallel_tuple_cost', '0', true),
           set_config('parallel_setup_cost', '0', true)
"""

_COPY = {
    "csv": sql.SQL("COPY ({rows}) TO STDOUT (FORMAT csv, HEADER)"),
    # COPY's text format would double the backslashes of JSON. CSV with a quote and a delimiter that
    # JSON never contains leaves each line as it is.
    "jsonl": sql.SQL("COPY ({rows}) TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"),
}
