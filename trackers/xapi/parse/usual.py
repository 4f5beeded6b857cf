"""The quick reader of look-ups: the usual answer goes straight into columns.

body ─> object ─┬─ all as asked, and nothing but counts ─> Shown
                └─ anything else ─> `v2`, which defines what an answer means
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trackers.xapi.parse.fields import INT4, INT8, read_object
from trackers.xapi.parse.v2 import CONTEXT, USUAL, USUAL_OF_POSTS, read_answer
from trackers.xapi.results import Lookup, Shown, WindowSeen

_METRIC_MAXIMA = (INT4, INT4, INT4, INT4, INT4, INT8)
# A post with any of these says more than its counts.
_MORE = CONTEXT | {"author_id", "created_at", "lang", "withheld"}
_TEXTS = (str, type(None))


def read_lookup(body: bytes, ids: Sequence[int], *, window: WindowSeen | None) -> Shown | Lookup:
    """The answer of `GET /2/tweets` to `ids`; Garbage when the body is not one."""
    answer = read_object(body)
    figures = _usual_figures(answer, ids)
    if figures is None:
        return read_answer(answer, ids, window=window)
    return Shown(ids, figures, window)


def _usual_figures(answer: Mapping[str, Any], ids: Sequence[int]) -> tuple[list[int], ...] | None:
    """The six counts as columns, in the order of `ids`, of which there is at least one; None when
    in any doubt."""
    posts = answer.get("data")
    if type(posts) is not list or len(posts) != len(ids) or "errors" in answer:
        return None
    asked = [*map(str, ids)]
    try:
        shown = {post["id"]: post for post in posts}
        # There are as many posts as ids, so each is taken once and none is left over.
        posts = [shown.pop(id) for id in asked]
        # All are in one vocabulary, that of the request.
        read = USUAL if "retweet_count" in posts[0]["public_metrics"] else USUAL_OF_POSTS
        columns = tuple(
            map(list, zip(*[read(post["public_metrics"]) for post in posts], strict=True))
        )
    except (KeyError, TypeError):
        return None
    if not all(map(_is_usual, posts, asked)) or not all(map(_are_counts, columns, _METRIC_MAXIMA)):
        return None
    return columns


def _is_usual(post: Mapping[str, Any], id: str) -> bool:
    history = post.get("edit_history_tweet_ids", post.get("edit_history_post_ids"))
    return (
        (history == [id] or history is None)
        and type(post.get("text")) in _TEXTS
        and _MORE.isdisjoint(post)
    )


def _are_counts(column: list[Any], most: int) -> bool:
    return {*map(type, column)} == {int} and min(column) >= 0 and max(column) <= most
