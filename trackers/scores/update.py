"""Every minute: the scores of tweets that crossed an age, stand out, or move.

CrossedAges ─> their authors' benchmarks are due ─> made, hourly at most ─┐
      └───────────────────────────────────────────────────────────────────┴─> Score
The cost of a minute depends on how many crossed an age in it, never on how many there are. If time
runs out, the rest waits for the next minute.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from trackers.scores.benchmarks import INTERPRETED, make_due, mark_due
from trackers.scores.models import SCORE_METRICS, STANDS_OUT
from trackers.scores.read import SCORED
from trackers.tweets.checkpoints.ages import AGES, ROLLUP_AGES
from trackers.tweets.gains.models import Window
from trackers.tweets.models import METRICS
from trackers.tweets.snowflake import first_id_at
from trackers.tweets.uncounted import noting_uncounted
from tweetwatch.database import array, cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count, take_work_lock
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

_WORK = "scores"
# Per piece: rows of `CrossedAges`, each of at most a thousand tweets, and authors.
_STATEMENTS_PER_PIECE, _AUTHORS_PER_PIECE = 20, 100
# So many of those that stand out, and of each list of what moves, are scored each minute.
_MOST_REFRESHED = 1_000
# After a week a tweet is brought up to date at its next age.
_REFRESHED_UNTIL = timedelta(days=7)

# Rises that no alert rule has read, as there is none.
_RISES_KEPT_FOR = timedelta(hours=1)
_RECENT_KEPT_FOR = timedelta(hours=25)
# A tweet that is first scored when it is older than this is no news.
_YOUNG = timedelta(days=1)

_COLUMNS = [*METRICS, *(f"expected_{metric}" for metric in METRICS)]
SCORE = statement(
    __file__,
    "score",
    scored=SCORED,
    scores=", ".join(f"score_{metric}" for metric in METRICS),
    expected=", ".join(f"expected_{metric}" for metric in METRICS),
    columns=", ".join(_COLUMNS),
    excluded=", ".join(f"excluded.{column}" for column in _COLUMNS),
    old=", ".join(f"s.{column}" for column in _COLUMNS),
    # As it is stored: else it would be a little more than what it was.
    rises=", ".join(f"('{metric}', s.{metric}, h.score_{metric}::real)" for metric in METRICS),
    stands_out=STANDS_OUT,
    young=f"{_YOUNG.total_seconds():.0f}",
)
# Those that sets are summed up at go on to `rollups`.
_ROLLED_UP = f"""
    SELECT of.id FROM taken CROSS JOIN unnest(ids, ages) AS of(id, age)
    WHERE of.age IN ({", ".join(str(AGES.index(age) + 1) for age in ROLLUP_AGES.values())})
"""
_TAKE_CROSSED = f"""
    WITH taken AS (
        DELETE FROM trackers_crossedages WHERE id = ANY(ARRAY(
            SELECT id FROM trackers_crossedages ORDER BY id LIMIT %(most)s))
        RETURNING ids, ages
    ),
    uncounted AS ({noting_uncounted(_ROLLED_UP)})
    SELECT array_agg(DISTINCT id) FROM taken CROSS JOIN unnest(ids) AS id
"""
FIND_OUTSTANDING = " UNION ".join(
    f"""
        (SELECT tweet_id FROM trackers_score
         WHERE {metric} >= {STANDS_OUT} AND tweet_id >= %(since)s
         ORDER BY {metric} DESC, tweet_id DESC LIMIT %(most)s)
    """
    for metric in SCORE_METRICS
)
_FIND_MOVING = """
    SELECT tweet_id FROM unnest(%(metrics)s::text[]) AS of(metric) CROSS JOIN LATERAL (
        SELECT tweet_id FROM trackers_gain g
        WHERE g.minutes = %(minutes)s AND g.metric = of.metric
        ORDER BY gain DESC, tweet_id DESC LIMIT %(most)s) listed
"""
# After the last age a tweet is scored no more, and what is kept to sort by would grow for ever.
_KEPT_FOR = AGES[-1] + timedelta(days=1)
_PRUNE = """
    DELETE FROM trackers_score WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_score WHERE tweet_id < %(before)s ORDER BY tweet_id LIMIT 5000))
"""
# From the front: the ids are in the order of time.
_PRUNE_RISES = """
    DELETE FROM trackers_scorerise WHERE id <= (
        SELECT max(id) FROM (
            SELECT id, at FROM trackers_scorerise ORDER BY id LIMIT 50000
        ) oldest WHERE at < %(before)s)
"""
_PRUNE_RECENT = """
    DELETE FROM trackers_recentrise WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_recentrise WHERE at < %(before)s ORDER BY at LIMIT 5000))
"""
_CROSSED_LEFT = "SELECT count(*) FROM (SELECT FROM trackers_crossedages LIMIT 1000) waiting"


def update_scores(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Bring benchmarks and scores up to date; `rows` of the result counts tweets and authors."""

    def piece() -> int | None:
        with cursor() as db:
            [crossed] = db.execute(_TAKE_CROSSED, {"most": _STATEMENTS_PER_PIECE}).fetchone() or [
                ()
            ]
        if crossed:
            mark_due(crossed, now=now)
        authors = make_due(most=_AUTHORS_PER_PIECE, now=now)
        if crossed:
            score_tweets(crossed, now=now)
        return len(crossed or ()) + authors or None

    with transaction.atomic():
        if not take_work_lock(_WORK):
            return PieceWork(is_elsewhere=True)
        with cursor() as db:
            db.execute(_PRUNE, {"before": _first_id_after(now - _KEPT_FOR)})
            db.execute(_PRUNE_RISES, {"before": now - _RISES_KEPT_FOR})
            db.execute(_PRUNE_RECENT, {"before": now - _RECENT_KEPT_FOR})
        score_tweets(_find_changing(now=now), now=now)
    worked = in_pieces(
        _WORK, piece, left=lambda: select_count(_CROSSED_LEFT, {}), deadline=deadline
    )
    if worked.left:
        logger.warning("scores are late: tweets of %d saves wait", worked.left)
    return worked


def score_tweets(ids: Iterable[int], *, now: datetime) -> None:
    """Write these tweets' scores. In a transaction."""
    with cursor() as db:
        db.execute(INTERPRETED)
        db.execute(SCORE, {"ids": array(ids), "now": now}, prepare=False)


def _find_changing(*, now: datetime) -> set[int]:
    """Those that stand out, and those in the lists of what moves: a second wave on day 4 must not
    wait for day 7."""
    since = _first_id_after(now - _REFRESHED_UNTIL)
    moving = {
        "metrics": list(METRICS), "minutes": int(Window.QUARTER), "most": _MOST_REFRESHED,
    }  # fmt: skip
    with cursor() as db:
        outstanding = db.execute(
            FIND_OUTSTANDING, {"since": since, "most": _MOST_REFRESHED}
        ).fetchall()
        return {id for (id,) in [*outstanding, *db.execute(_FIND_MOVING, moving)]}


def _first_id_after(at: datetime) -> int:
    return first_id_at(int(at.timestamp() * 1000))
