"""What X calls the fields of a post, and in which of its two vocabularies it is asked.

X's OpenAPI document has `tweet.fields` up to 2.166 (2026-07-06), and `post.fields` from 2.167
(2026-08-22) on, for all endpoints but the stream. In October 2026 X itself took both. The request's
vocabulary is also the reply's, and `parse` reads both.

`tweet.fields`, which has all we use ─> X refuses the parameter ─> `post.fields` for a day, with
what it has without an expansion ─> the first one again
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import NamedTuple

from trackers.xapi.errors import OtherVocabulary
from trackers.xapi.parse.problems import entries, read_problem
from trackers.xapi.wire.headers import window_seen
from trackers.xapi.wire.session import RejectedReply, Reply

logger = logging.getLogger(__name__)

TWEETS, POSTS = "tweet.fields", "post.fields"
# For so long a vocabulary that X refused is not tried again.
_REFUSED_FOR_SECONDS = 24 * 3600.0


class Field(NamedTuple):
    """A field of a post that we use. None of them is billed: only expansions are."""

    tweets: str  # its name in `tweet.fields`
    # Its name in `post.fields`; None where that vocabulary gives it by itself, or for an expansion
    # alone, which is billed as a read of its own.
    posts: str | None
    # Whether it may change, so that every look-up asks for it. X sends the long text only for posts
    # that have one, and `withheld` only for those that are.
    changes: bool = False


# By X's OpenAPI documents 2.166 and 2.167, `GET /2/tweets`. The history of edits comes by itself
# (X's "Data dictionary"); the author, `author_id`, and what a post is about, `referenced_posts`,
# are expansions in 2.167.
FIELDS = (
    Field("public_metrics", "public_metrics", changes=True),
    Field("edit_history_tweet_ids", None, changes=True),
    Field("note_tweet", "note_post", changes=True),
    Field("withheld", "withheld", changes=True),
    Field("created_at", "created_at"),
    Field("author_id", None),
    Field("lang", "lang"),
    Field("conversation_id", "conversation_id"),
    Field("referenced_tweets", None),
    Field("attachments", "attachments"),
    Field("entities", "entities"),
)


def fields_in(vocabulary: str, *, describes: bool = True) -> list[str]:
    """The names to ask for. `describes`: also of what never changes once X has sent it."""
    names = [
        field.tweets if vocabulary == TWEETS else field.posts
        for field in FIELDS
        if describes or field.changes
    ]
    return [name for name in names if name]


# When a host refused a vocabulary, by `time.monotonic`; of this process.
_refused_at: dict[tuple[str, str], float] = {}


def ask_in_vocabulary(base_url: str, endpoint: str, send: Callable[[str], Reply]) -> Reply:
    """The reply to a request in the vocabulary that X takes there.

    OtherVocabulary if X refuses it: the next request is made in the other one. Not repeated at
    once, since one request was reserved. If X refused both within a day, its refusal is raised.
    """
    vocabulary, other = _choose(base_url, now=time.monotonic())
    try:
        return send(vocabulary)
    except RejectedReply as rejected:
        reply = rejected.reply
        if not _names(reply, vocabulary):
            raise
        now = time.monotonic()
        is_news = not _is_refused_today(base_url, vocabulary, now=now)
        _refused_at[base_url, vocabulary] = now
        if _is_refused_today(base_url, other, now=now):
            raise
    reason = f"X takes no {vocabulary} at {endpoint}: it is asked for {other} instead."
    if is_news:
        logger.warning("%s The first is tried again in a day.", reason)
    raise OtherVocabulary(reason, window=window_seen(reply.headers, endpoint))


def _choose(base_url: str, *, now: float) -> tuple[str, str]:
    """The vocabulary to ask in, and the other: the one with all fields, unless it is refused."""
    if _is_refused_today(base_url, TWEETS, now=now):
        return POSTS, TWEETS
    return TWEETS, POSTS


def _is_refused_today(base_url: str, vocabulary: str, *, now: float) -> bool:
    """Whether X refused it within a day."""
    at = _refused_at.get((base_url, vocabulary))
    return at is not None and now - at < _REFUSED_FOR_SECONDS


def _names(reply: Reply, vocabulary: str) -> bool:
    """Whether a 400 names this parameter, or a value of it that X no longer knows."""
    if reply.status_code != 400:
        return False
    for entry in entries(read_problem(reply.body)):
        parameters, message = entry.get("parameters"), entry.get("message")
        if type(parameters) is dict and vocabulary in parameters:
            return True
        if type(message) is str and vocabulary in message.partition(" is not one of ")[0]:
            return True
    return False
