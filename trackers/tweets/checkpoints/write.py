"""The part of a save that writes checkpoints: SQL for `trackers.tweets.record`."""

from __future__ import annotations

from trackers.tweets.checkpoints.ages import AGES_S, MAX_FACTOR
from tweetwatch.statements import statement

# CTEs that follow one called `recorded`, with what `record` returns of each tweet.
CHECKPOINTS = statement(
    __file__,
    "_write",
    ages=f"ARRAY[{', '.join(f'{age:.0f}' for age in AGES_S)}]",
    factor=MAX_FACTOR,
)


def crosses(tweet: str) -> str:
    """In SQL: whether a measurement `m` of the row `tweet` is the first one of a higher age."""
    return f"""(
        SELECT trackers_age_place_v1(date_part('epoch', m.at - born))
               > trackers_age_place_v1(date_part('epoch', {tweet}.measured_until - born))
        FROM (
            SELECT coalesce({tweet}.created_at, trackers_born_at_v1({tweet}.id)) AS born OFFSET 0
        ) b
        WHERE {tweet}.measurements > 0 AND m.at > {tweet}.measured_until
    )"""
