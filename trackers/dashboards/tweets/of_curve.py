"""The tables of one tweet as files."""

from __future__ import annotations

from collections.abc import Sequence

from trackers.dashboards.tweets.curve import amount
from trackers.dashboards.tweets.steps import Step, day_of
from trackers.tweets.history import Run
from trackers.tweets.models import METRICS, Tweet
from tweetwatch.tables import Column, Table


def of_runs(tweet: Tweet, runs: Sequence[Run]) -> Table:
    columns = [
        Column("tweet_id", "id"),
        Column("taken_at", "time"),
        Column("measured_until", "time"),
        Column("measurements", "whole"),
        *(Column(metric, "whole") for metric in METRICS),
    ]
    return Table(f"tweet-{tweet.pk}", columns, runs)


def of_steps(tweet: Tweet, steps: Sequence[Step], view: str) -> Table:
    """Per hour, or per UTC day; `has_gap`: for a part of that time nobody looked."""
    columns = [
        Column("tweet_id", "id"),
        Column("since", "time"),
        Column("until", "time"),
        *(Column(metric, "whole" if view == "days" else "number") for metric in METRICS),
        Column("has_gap", "yes_no"),
    ]
    rows = (
        (
            tweet.pk,
            day_of(step.until) if view == "days" else step.since,
            step.until,
            *(amount(step, metric, view) for metric in METRICS),
            step.gap,
        )
        for step in steps
    )
    return Table(f"tweet-{tweet.pk}-{view}", columns, rows)
