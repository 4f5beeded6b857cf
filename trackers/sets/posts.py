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
_NOT_KNOWN: tuple[None, int, bool] = (None, 0, False)
_KINDS = {kind.value: kind for kind in PostKind}


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
    usual = _expected({(row[1], row[2] or EVERY_KIND) for row in rows if row[1]}, place, metric)
    of_metric, minimum = METRICS.index(metric), MINIMUMS[metric]
    posts = {}
    for id, author, kind, lang, is_known, *figures in rows:
        counts = Figures(*figures) if is_known else None
        expected, number, is_of_kind = usual.get((author, kind or EVERY_KIND), _NOT_KNOWN)
        actual = figures[of_metric] if is_known else None
        of_kind = _KINDS.get(kind) if is_of_kind else None
        of_usual = score(actual, expected, minimum)
        scored = Scored(metric, actual, expected, number, of_kind, of_usual)
        posts[id] = Post(id, born_at(id), author, kind, lang, counts, scored)
    return posts


def _expected(
    pairs: set[tuple[int, int]], place: int, metric: str
) -> dict[tuple[int | None, int], tuple[float | None, int, bool]]:
    """By author and kind: what is usual, of how many posts, and whether of that kind."""
    params = {
        "authors": array(author for author, _ in pairs),
        "kinds": array(kind for _, kind in pairs),
        "metric": METRICS.index(metric) + 1,
        "age": place,
    }
    with cursor() as db:
        rows = db.execute(EXPECTED, params, binary=True).fetchall()
    return {(author, kind): (expected, number, of) for author, kind, expected, number, of in rows}
