"""Scores and what is usual, in words. Pure."""

from __future__ import annotations

from trackers.scores.read import Scored
from trackers.tweets.kinds import PostKind
from tweetwatch.amounts import amount

_NO_FRACTION = 100
_MINUS = "−"
_POSTS = {
    PostKind.REPLY: "reply,replies", PostKind.QUOTE: "quote post", PostKind.VIDEO: "video",
    PostKind.PHOTO: "photo", PostKind.LINK: "link", PostKind.TEXT: "text post",
}  # fmt: skip


def score_words(score: float) -> str:
    """With one decimal, from a hundred on with none."""
    digits = 0 if round(abs(score), 1) >= _NO_FRACTION else 1
    sign = _MINUS if score < 0 else ""
    return f"{sign}{abs(score):,.{digits}f}×"


def posts_compared(scored: Scored) -> str:
    """How many of which kind say what is usual: "12 photos"."""
    if scored.kind is None:
        return f"{amount(scored.posts, 'post')} of all kinds"
    return amount(scored.posts, *_POSTS[scored.kind].split(","))


def usual_count(expected: float | None) -> str:
    """To three digits: a mean claims no more."""
    if expected is None:
        return "–"
    whole = round(expected)
    return f"{round(whole, min(0, 3 - len(str(abs(whole))))):,}"
