"""The world of `screens`: tweets of the last 30 days with some fifty samples each.

many ─> tweets, jobs, texts, samples (packed, and of today in rows), checkpoints ─> scores
Set-based, in two connections, since a statement fills one core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from threading import Event
from typing import Any

from django.db import connection

from tests.benchmarks.screens import looks
from tests.pages import many
from tests.queues import fill_buckets
from trackers.tweets.checkpoints.ages import AGES_S
from trackers.tweets.models import METRICS
from trackers.tweets.pack import SAMPLES, SETTLED_AFTER
from trackers.tweets.snowflake import TWEPOCH_MS
from tweetwatch.database import cursor

# So many tweets have a history of LONG_SAMPLES, all by one author.
LONG, LONG_AUTHOR = 6, 2
CAME_FROM = {False: "screens", True: "screens, looked at every minute"}

# As `tests.pages.many` has it, with what the samples are made of: when each was born, how many
# views it comes to in the end, and whether its history is a long one: these have numbers below 0.
MANY = f"""
    CREATE UNLOGGED TABLE many AS
    SELECT n, is_long, ((ms - {TWEPOCH_MS}) << 22) + n %% 4096 AS id, ms / 1000.0::float8 AS born,
           (200 * 10 ^ (4 * random() ^ 2))::float8 AS total
    FROM (
        SELECT n, false AS is_long,
               (%(now)s * 1000 - 60000 - n * (30 * 86400000.0 / %(tweets)s))::bigint AS ms
        FROM generate_series(%(tweets)s::int, 1, -1) n
        UNION ALL
        SELECT -n, true, (%(now)s * 1000 - {looks.LONG_AGE_MS} - n * 1000)::bigint
        FROM generate_series(1, {LONG}) n
    ) made ORDER BY ms
"""
# How many views there are for each retweet, reply, like, quote, bookmark and view.
VIEWS_FOR = (200, 300, 40, 900, 90, 1)
FIGURES = ", ".join(f"v / {by}" for by in VIEWS_FOR)
# Of the newest sample: `k` is its place among the looks of that kind of history.
TWEETS = f"""
    INSERT INTO trackers_tweet (id, author_id, created_at, tracked_at, came_from, paused,
                                missing_reason, missing_since, gone_at, taken_at, measured_until,
                                measurements, retweets, replies, likes, quotes, bookmarks,
                                views, pace)
    SELECT id, CASE WHEN is_long THEN {LONG_AUTHOR}
                    ELSE 1 + floor(random() ^ 2 * greatest(%(tweets)s / 10, 1000))::bigint END,
           to_timestamp(born), to_timestamp(born) + interval '1 second', %(came_from)s,
           n %% 500 = 7,
           CASE WHEN n %% 33 = 5 OR n %% 2000 = 9 THEN 'not_found' ELSE '' END,
           CASE WHEN n %% 33 = 5 OR n %% 2000 = 9 THEN now() END,
           CASE WHEN n %% 33 = 5 THEN now() END,
           to_timestamp(born + begun[k]), to_timestamp(born + CASE
               WHEN born + ended[k] <= %(now)s THEN ended[k] ELSE begun[k] END),
           CASE WHEN born + ended[k] <= %(now)s THEN looks[k] ELSE 1 END,
           {FIGURES}, 1 / greatest(%(now)s - born, 600)
    FROM (
        SELECT m.*, (total * share[k])::bigint AS v, k, begun, ended, looks
        FROM many m
        CROSS JOIN (SELECT %(begun)s::float8[] AS begun, %(ended)s::float8[] AS ended,
                           %(looks)s::int[] AS looks, %(share)s::float8[] AS share) one
        CROSS JOIN LATERAL (SELECT greatest(1, width_bucket(%(now)s - born, begun)) AS k) place
        WHERE is_long = %(long)s
    ) made ORDER BY id
"""
EVERY = """
    CASE WHEN age < 1080 THEN 60 WHEN age < 3600 THEN 300 WHEN age < 86400 THEN 3600
         WHEN age < 604800 THEN 21600 ELSE 86400 END * interval '1 second'
"""
JOBS = f"""
    INSERT INTO trackers_tweetupdate (key, due_at, stamp, strikes)
    SELECT id, due_at, CASE WHEN n %% 5000 = 11 THEN NULL
                            ELSE floor(extract(epoch FROM due_at))::bigint END,
           CASE WHEN n %% 5000 = 11 THEN 4 ELSE 0 END
    FROM (
        SELECT id, n, to_timestamp(%(now)s) + random() * {EVERY} AS due_at
        FROM (SELECT id, n, %(now)s - born AS age FROM many WHERE n %% 500 <> 7) due
    ) one ORDER BY id
"""
COLUMNS = (
    "taken_at, measured_until, measurements, retweets, replies, likes, quotes, bookmarks, views"
)
LOOKS = """
    (SELECT %(begun)s::float8[] AS begun, %(ended)s::float8[] AS ended, %(looks)s::int[] AS looks,
            %(share)s::float8[] AS share) one
"""
# `closed`: all but the newest, which is on the tweet's own row.
CLOSED = """
    greatest(1, width_bucket(%(now)s - born, begun)) - 1 AS closed
"""


def each(what: str) -> str:
    return f"ARRAY(SELECT {what} FROM generate_series(low + 1, high) i)"


def views(divisor: int) -> str:
    return f"(total * share[i])::bigint / {divisor}"


PACKED = f"""
    INSERT INTO trackers_packedsamples (tweet_id, month, {COLUMNS})
    SELECT id, %(month)s::date, {each("to_timestamp(born + begun[i])")},
           {each("to_timestamp(born + ended[i])")}, {each("looks[i]")},
           {", ".join(each(views(by)) for by in VIEWS_FOR)}
    FROM (
        SELECT m.*, one.*, width_bucket(%(since)s - born, ended) AS low,
               least(closed, width_bucket(%(until)s - born, ended)) AS high
        FROM many m CROSS JOIN {LOOKS}
        CROSS JOIN LATERAL (SELECT {CLOSED}) newest
        WHERE is_long = %(long)s AND n >= %(first)s AND n < %(below)s
    ) stretch WHERE high > low ORDER BY id
"""
ROWS = f"""
    INSERT INTO trackers_sample (tweet_id, {COLUMNS})
    SELECT id, to_timestamp(born + begun[i]), to_timestamp(born + ended[i]), looks[i],
           {", ".join(views(by) for by in VIEWS_FOR)}
    FROM many m CROSS JOIN {LOOKS}
    CROSS JOIN LATERAL (SELECT {CLOSED}) newest
    CROSS JOIN LATERAL generate_series(width_bucket(%(since)s - born, ended) + 1, closed) i
    WHERE is_long = %(long)s AND born + one.ended[i] >= %(since)s
    ORDER BY born + ended[i]
"""
AGES = f"ARRAY[{', '.join(f'{age:.0f}' for age in AGES_S)}]::float8[]"
CHECKPOINTS = f"""
    INSERT INTO trackers_packedcheckpoints (tweet_id, ages, {", ".join(METRICS)})
    SELECT id, {", ".join(["ages", *(f"of_{metric}" for metric in METRICS)])}
    FROM many m CROSS JOIN {LOOKS} CROSS JOIN LATERAL (
        SELECT array_agg(place::smallint ORDER BY place) AS ages,
               {
    ", ".join(
        f"array_agg(({views(by)})::int ORDER BY place) AS of_{metric}"
        for metric, by in zip(METRICS, VIEWS_FOR, strict=True)
    )
}
        FROM unnest({AGES}) WITH ORDINALITY AS age(seconds, place)
        CROSS JOIN LATERAL (SELECT greatest(1, width_bucket(seconds, begun)) AS i) look
        WHERE seconds <= %(now)s - born
    ) at_ages
    WHERE is_long = %(long)s AND ages IS NOT NULL ORDER BY id
"""
# As many views are usual for all authors: two fifths of the tweets have twice as many.
USUAL = 2000
BENCHMARKS = f"""
    INSERT INTO trackers_benchmark (author_id, kind, made_at, expected, posts)
    SELECT author_id, kind, now(),
           ARRAY[{", ".join(f"array_fill({USUAL / by}::real, ARRAY[18])" for by in VIEWS_FOR)}],
           array_fill(100::smallint, ARRAY[6, 18])
    FROM (SELECT DISTINCT author_id FROM trackers_tweet) a CROSS JOIN generate_series(0, 6) kind
"""
SCORES = f"""
    INSERT INTO trackers_score (tweet_id, at, views, likes, retweets, expected_views,
                                expected_likes, expected_retweets)
    SELECT id, measured_until, of.score, of.score, of.score, {USUAL}, {USUAL / 40}, {USUAL / 200}
    FROM trackers_tweet CROSS JOIN LATERAL (
        SELECT CASE WHEN views >= {USUAL} THEN views / {USUAL}.0
                    ELSE -{USUAL}.0 / views END AS score
    ) of
    WHERE views > 0 AND gone_at IS NULL
"""
TEXT_WORDS = "SELECT indexdef FROM pg_indexes WHERE indexname = 'tweettext_words'"


def main(*, tweets: int) -> None:
    now = datetime.now(UTC)
    params = {"now": now.timestamp(), "tweets": tweets}
    usual, long = looks.usual(), looks.long()
    kinds = [
        {**params, **of, "long": is_long, "came_from": CAME_FROM[is_long]}
        for is_long, of in ((False, usual), (True, long))
    ]
    settled = (now - SETTLED_AFTER).replace(hour=0, minute=0, second=0, microsecond=0)
    for hours in range(0, int((now - settled).total_seconds()) // 3600 + 1, 6):
        SAMPLES.make(SAMPLES.covering(settled + timedelta(hours=hours)))
    run((MANY, params), ("CREATE UNIQUE INDEX ON many (n)", {}), ("ANALYZE many", {}))
    are_tracked = Event()
    side_by_side(
        [
            lambda: tracked(tweets, params, kinds, are_tracked),
            *(
                lambda part=part: run(*part)  # type: ignore[misc]
                for part in packing(kinds, tweets=tweets, settled=settled, now=now)
            ),
            lambda: run(*((ROWS, {**kind, "since": settled.timestamp()}) for kind in kinds)),
            lambda: run(*((CHECKPOINTS, kind) for kind in kinds)),
            lambda: texts(tweets, are_tracked),
        ]
    )
    run((BENCHMARKS, {}), (SCORES, {}))
    run(("VACUUM (ANALYZE)", {}))


def tracked(
    tweets: int, values: dict[str, Any], kinds: Sequence[dict[str, Any]], are_tracked: Event
) -> None:
    authors = many.AUTHORS.format(tweets=tweets)
    try:
        run((authors, {}), *((TWEETS, kind) for kind in kinds))
    finally:
        are_tracked.set()
    run((JOBS, values))
    with cursor() as db:
        fill_buckets(db)


def texts(tweets: int, are_tracked: Event) -> None:
    """The index of words is made afterwards, in a fraction of the time."""
    are_tracked.wait()
    with cursor() as db:
        [made] = db.execute(TEXT_WORDS).fetchone() or (None,)
        db.execute("DROP INDEX tweettext_words")
        db.execute(many.TEXTS.format(tweets=tweets))
        db.execute("SET maintenance_work_mem = '512MB'")
        db.execute(str(made))


def packing(
    kinds: Sequence[dict[str, Any]], *, tweets: int, settled: datetime, now: datetime
) -> list[list[tuple[str, dict[str, Any]]]]:
    """The statements that pack each month, a part of the tweets each."""
    usual, long = kinds
    parts = []
    step = tweets // 8 + 1
    for month in months(now - timedelta(days=31), settled):
        since = datetime(month.year, month.month, 1, tzinfo=UTC)
        until = min(settled, (since + timedelta(days=32)).replace(day=1))
        span = {"month": month, "since": since.timestamp(), "until": until.timestamp()}
        for first in range(1, tweets + 1, step):
            part = {"first": first, "below": min(first + step, tweets + 1)}
            parts.append([(PACKED, {**usual, **span, **part})])
        parts.append([(PACKED, {**long, **span, "first": -LONG, "below": 0})])
    return parts


def months(since: datetime, until: datetime) -> list[date]:
    days = [since.date() + timedelta(days=n) for n in range((until - since).days + 1)]
    return sorted({day.replace(day=1) for day in [*days, until.date()]})


def run(*statements: tuple[str, dict[str, Any]]) -> None:
    with cursor() as db:
        db.execute("SET synchronous_commit = off")
        for statement, given in statements:
            wanted = {name: one for name, one in given.items() if f"%({name})s" in statement}
            db.execute(statement, wanted or None, prepare=False)


def side_by_side(parts: Sequence[Callable[[], None]]) -> None:
    def part(do: Callable[[], None]) -> None:
        try:
            do()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(part, one) for one in parts]:
            done.result()
