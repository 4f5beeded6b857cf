"""A batch with edited tweets in it: which ids X is asked for, and whose are those that it shows.

tweets ─> their newest versions ─> X ─> by tweet again ─> what is new of their versions is learnt
X's pages differ on what it shows for the id of an old version, that one or the newest: either will
do. Where nothing was edited, nothing of this costs more than a look at each tweet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from trackers.jobs import queue
from trackers.jobs.queue import Batch
from trackers.tweets.paid import mark_paid
from trackers.tweets.versions import Seen, learn
from trackers.updater.before import NOTHING, Before, Prior
from trackers.updater.reserve import BatchGrant
from trackers.updater.save import Saved
from trackers.xapi.answers import Lookup


def without_merged(batch: Batch, before: Before) -> Batch:
    """Those that are versions of another tweet rest: it is looked up in their stead."""
    merged = {id for id, tweet in before.odd.items() if tweet.version_of is not None}
    if not merged:
        return batch
    queue.finish(replace(batch, keys=tuple(id for id in batch.keys if id in merged)), {})
    return replace(batch, keys=tuple(id for id in batch.keys if id not in merged))


def newest_of(id: int, prior: Mapping[int, Prior]) -> int:
    return prior.get(id, NOTHING).newest or id


def newest_versions(ids: Sequence[int], prior: Mapping[int, Prior]) -> Sequence[int]:
    """The ids to ask for, each once."""
    if not any(tweet.newest for tweet in prior.values()):
        return ids
    return list(dict.fromkeys(newest_of(id, prior) for id in ids))


def by_tweet(answer: Lookup, ids: Sequence[int], prior: Mapping[int, Prior]) -> Lookup:
    """The answer by the ids of the tweets, and not by those that were asked for."""
    asked = [(id, newest_of(id, prior)) for id in ids]
    if all(id == version for id, version in asked):
        return answer
    return replace(
        answer,
        posts={id: answer.posts[one] for id, one in asked if one in answer.posts},
        missing={id: answer.missing[one] for id, one in asked if one in answer.missing},
        broken={id: answer.broken[one] for id, one in asked if one in answer.broken},
        edited=tuple(id for id, one in asked if one in answer.edited),
    )


def billed(asked: BatchGrant, answer: Lookup, prior: Mapping[int, Prior]) -> tuple[int, int]:
    """How many posts X billed, as far as they were not paid for today, and how many it showed.

    What is paid for is the version that was asked for: X may have shown another.
    """
    tweets = answer.posts.keys() | answer.broken.keys()
    if not answer.edited and not answer.strangers:
        return len(asked.unpaid & tweets), len(tweets)
    shown = {post.id for post in answer.posts.values()}
    shown |= {newest_of(id, prior) for id in answer.broken}
    paid = {newest_of(id, prior) for id in asked.batch.keys if id not in asked.unpaid}
    return len(shown - paid) + answer.strangers, len(shown) + answer.strangers


def learn_edits(
    asked: BatchGrant, answer: Lookup, prior: Mapping[int, Prior], saved: Saved, *, at: datetime
) -> frozenset[int]:
    """What is new: a version that was not known, or the text of one that was not shown before.

    The tweets that rest from now on, as versions of others.
    """
    new = {
        id: answer.posts[id]
        for id in answer.edited
        if id in saved.ours and is_new(id, answer, prior.get(id, NOTHING))
    }
    if not new:
        return frozenset()
    merged = learn([Seen(post, at) for post in new.values()])
    # Learning of a newer version makes the tweet one to pay for; what X showed of it is paid.
    shown = [id for id, post in new.items() if post.id == post.edit_history[-1]]
    mark_paid(shown, day=asked.payment.day, project=asked.payment.project)
    return merged


def is_new(id: int, answer: Lookup, prior: Prior) -> bool:
    post = answer.posts[id]
    return post.edit_history[-1] != prior.newest or (prior.is_new and post.id == prior.newest)
