"""The sets of one kind among the posts of another set: a source's authors, a tag's hashtags.

ids of both periods ─> their posts at the age, so many at once ─ by key ─> a row for each set
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from trackers.rollups.models import RollupKind
from trackers.sets.figures import known_counts, median, rate_of_all, share_above
from trackers.sets.leaderboards.count import (
    MAX_LISTED,
    MIN_MEASURED,
    RANKED,
    STEPS,
    ComparedSpans,
    SetRow,
)
from trackers.sets.leaderboards.rank import BY_METRIC, ORDERS, ranked
from trackers.sets.period_figures import SET_AGES
from trackers.sets.posts import Post, read_posts
from trackers.tweets.models import METRICS
from tweetwatch.database import array, cursor

_PIECE = 20_000
# By the key of the tweet, whatever the statistics say: LATERAL, OFFSET.
_KEYS = """
    SELECT asked.id, of.key FROM unnest(%(ids)s::bigint[]) AS asked(id)
    CROSS JOIN LATERAL (
        SELECT DISTINCT {key} AS key FROM {table} WHERE tweet_id = asked.id OFFSET 0
    ) of
"""
KEYS_OF = {
    RollupKind.SOURCE: _KEYS.format(key="source_id::text", table="trackers_sourcetweet"),
    RollupKind.TAG: _KEYS.format(key="tag_id::text", table="trackers_tweettag"),
    RollupKind.HASHTAG: _KEYS.format(key="unnest(hashtags)", table="trackers_tweettext"),
    RollupKind.DOMAIN: _KEYS.format(key="unnest(domains)", table="trackers_tweettext"),
}


def count_within(
    kind: RollupKind,
    ids: Sequence[int],
    spans: ComparedSpans,
    *,
    progress: Callable[[int], object] = lambda _: None,
) -> list[SetRow]:
    """The sets that are highest by any figure, counted from these tweets alone. `progress` is
    called with how many were read."""
    by_key: dict[str, list[Post]] = defaultdict(list)
    for first in range(0, len(ids), _PIECE):
        for key, post in _keyed_posts(kind, ids[first : first + _PIECE], spans.age):
            by_key[key].append(post)
        progress(min(first + _PIECE, len(ids)))
    end_before = min(spans.old_before.until, spans.this.since)
    rows = [
        row for key, posts in by_key.items() if (row := _row(key, posts, spans, end_before)).posts
    ]
    # There may be thousands, of which hundreds are listed: only these are laid out in time.
    return [replace(row, steps=_steps(by_key[row.key], spans)) for row in _in_any_list(rows)]


def _in_any_list(rows: Sequence[SetRow]) -> Iterable[SetRow]:
    if len(rows) <= MAX_LISTED:
        return rows
    orders = {by: RANKED if by in BY_METRIC else RANKED[:1] for by in ORDERS}
    highest = {
        row.key: row
        for by, metrics in orders.items()
        for metric in metrics
        for row in ranked(rows, by=by, metric=metric, most=MAX_LISTED)
    }
    return highest.values()


def _keyed_posts(kind: RollupKind, ids: Iterable[int], age: str) -> Iterator[tuple[str, Post]]:
    # The share above usual is that of views, as in lists of all tweets.
    posts = read_posts(ids, age=SET_AGES[age], metric="views")
    match kind:
        case RollupKind.AUTHOR:
            yield from ((str(post.author), post) for post in posts.values() if post.author)
        case RollupKind.LANGUAGE:
            yield from ((post.lang, post) for post in posts.values() if post.lang)
        case _:
            with cursor() as db:
                keys = db.execute(KEYS_OF[kind], {"ids": array(posts)}, binary=True).fetchall()
            yield from ((key, posts[id]) for id, key in keys)


def _row(key: str, posts: Sequence[Post], spans: ComparedSpans, end_before: datetime) -> SetRow:
    """As `figures.summary` says it, without what no leaderboard shows, and without steps."""
    this = [post for post in posts if post.at >= spans.this.since]
    old = [post for post in this if post.at < spans.old.until]
    known = known_counts(old, RANKED)
    before = known_counts((post for post in posts if post.at < end_before), RANKED)
    measured = len(known["views"])
    is_enough = measured >= MIN_MEASURED
    scores = [post.score for post in old if post.score is not None]
    return SetRow(
        key=key,
        posts=len(this),
        posts_before=len(posts) - len(this),
        old=len(old),
        measured=measured,
        totals={metric: sum(known[metric]) if known[metric] else None for metric in RANKED},
        before={metric: sum(before[metric]) if before[metric] else None for metric in RANKED},
        medians={metric: median(known[metric]) if is_enough else None for metric in RANKED},
        rate=rate_of_all(old) if is_enough else None,
        scored=len(scores),
        above=share_above(scores),
        steps={},
    )


def _steps(posts: Iterable[Post], spans: ComparedSpans) -> dict[str, list[int]]:
    begin = spans.before.since
    length = (spans.this.until - begin) / STEPS
    steps = [([0] * STEPS, METRICS.index(metric)) for metric in RANKED]
    for post in posts:
        if post.counts is not None:
            at = min(int((post.at - begin) / length), STEPS - 1)
            for totals, place in steps:
                totals[at] += post.counts[place] or 0
    return {metric: totals for metric, (totals, _) in zip(RANKED, steps, strict=True)}
