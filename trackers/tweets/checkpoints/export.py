"""All checkpoints as lines: a tweet, an age, and what it had then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trackers.tweets.checkpoints.ages import AGES_S
from trackers.tweets.export import Format, stream_blocks
from trackers.tweets.models import METRICS

_AGES = f"(ARRAY[{', '.join(f'{age:.0f}' for age in AGES_S)}])[age]"
# As SAMPLE_COLUMNS, an id is a string. One that crossed an age twice, as a clock was ahead, has the
# lower views.
_ROWS = f"""
    SELECT DISTINCT ON (run.tweet_id, run.age)
           tweet_id::text AS tweet_id, {_AGES} AS age_seconds, {", ".join(METRICS)}
    FROM (
        SELECT p.tweet_id, of.* FROM trackers_packedcheckpoints p
        CROSS JOIN LATERAL unnest(p.ages, {", ".join(f"p.{metric}" for metric in METRICS)})
            AS of(age, {", ".join(METRICS)})
        UNION ALL
        SELECT tweet_id, age, {", ".join(METRICS)} FROM trackers_checkpoint
    ) AS run
    WHERE {{chosen}} ORDER BY run.tweet_id, run.age, run.views
"""
_LINES = f"SELECT row_to_json(line) FROM ({_ROWS}) AS line"


def export_checkpoints(ids: Sequence[int], *, format: Format) -> Iterator[bytes]:
    """Every checkpoint of these tweets, or of all, by tweet and age."""
    return stream_blocks(_ROWS if format == "csv" else _LINES, "run.tweet_id", ids, format)
