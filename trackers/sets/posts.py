"""Posts with what they had at an age, and how far that is from what is usual."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from trackers.scores.models import EVERY_KIND
from trackers.scores.read import Scored
from trackers.scores.rule import MINIMUMS, score
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS
from trackers.tweets.snowflake import born_at
from trackers.xapi.results import Figures
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

POSTS = statement(__file__, "posts")
EXPECTED = statement(__file__, "expected")


class Post(NamedTuple):
    id: int
    at: datetime
    author: int | None
    kind: int | None  # of PostKind; None: not known
    lang: str
    counts: Figures | None  # at the age; None: it was not measured then
    scored: Scored | None = None  # the metric that was asked for, at the age

    @property
    def score(self) -> float | None:
        """None: too few posts of the author, or not measured at the age."""
        return self.scored.score if self.scored else None


def read_posts(ids: Iterable[int], *, age: timedelta, metric: str) -> dict[int, Post]:
    """By id; `age` is one of AGES. Retweets and gone posts are left out. Two statements,
    each by keys."""
    place = AGES.index(age) + 1
    with cursor() as db:
        rows = db.execute(POSTS, {"ids": array(ids), "age": place}, binary=True).fetchall()
    posts = {
        id: Post(id, born_at(id), author, kind, lang, Figures(*counts) if is_known else None)
        for id, author, kind, lang, is_known, *counts in rows
    }
    return _scored(posts, place=place, metric=metric)


def _scored(posts: dict[int, Post], *, place: int, metric: str) -> dict[int, Post]:
    of_metric, minimum = METRICS.index(metric), MINIMUMS[metric]
    pairs = list({(post.author, post.kind or EVERY_KIND) for post in posts.values() if post.author})
    params = {
        "authors": array(author for author, _ in pairs if author),
        "kinds": array(kind for _, kind in pairs),
        "metric": of_metric + 1,
        "age": place,
    }
    with cursor() as db:
        rows = db.execute(EXPECTED, params, binary=True).fetchall()
    usual = {(author, kind): said for author, kind, *said in rows}
    made = {}
    for id, post in posts.items():
        expected, number, is_of_kind = usual.get(
            (post.author, post.kind or EVERY_KIND), (None, 0, False)
        )
        kind = PostKind(post.kind) if post.kind and is_of_kind else None
        actual = post.counts[of_metric] if post.counts else None
        of_usual = score(actual, expected, minimum)
        made[id] = post._replace(scored=Scored(metric, actual, expected, number, kind, of_usual))
    return made
