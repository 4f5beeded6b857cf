"""Edited tweets in a batch: which ids to ask X for, and to which tweets its answers belong.

tweets ─> their newest versions ─> X ─> by tweet again ─> new versions and their texts are learnt
X's documentation is inconsistent on whether a request for an old version's id returns that version
or the newest: both are handled. If nothing was edited, all this costs only a check of each tweet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from trackers.tweets.record import mark_paid
from trackers.tweets.versions import SeenVersion, learn
from trackers.updater.before import NO_PRIOR, Prior
from trackers.updater.reserve import BatchGrant
from trackers.updater.save import Saved
from trackers.xapi.results import Lookup


def _newest_of(id: int, prior: Mapping[int, Prior]) -> int:
    return prior.get(id, NO_PRIOR).newest or id


def newest_versions(ids: Sequence[int], prior: Mapping[int, Prior]) -> Sequence[int]:
    """The ids to ask for, each once."""
    if not any(tweet.newest for tweet in prior.values()):
        return ids
    return list(dict.fromkeys(_newest_of(id, prior) for id in ids))


def answer_by_tweet(answer: Lookup, ids: Sequence[int], prior: Mapping[int, Prior]) -> Lookup:
    """The answer by the ids of the tweets instead of the requested ids."""
    asked = [(id, _newest_of(id, prior)) for id in ids]
    if all(id == version for id, version in asked):
        return answer
    return replace(
        answer,
        posts={id: answer.posts[version] for id, version in asked if version in answer.posts},
        missing={id: answer.missing[version] for id, version in asked if version in answer.missing},
        broken={id: answer.broken[version] for id, version in asked if version in answer.broken},
        edited=tuple(id for id, version in asked if version in answer.edited),
    )


def count_billed(asked: BatchGrant, answer: Lookup, prior: Mapping[int, Prior]) -> tuple[int, int]:
    """How many posts X billed that were not paid for today, and how many it showed.

    A payment is for the version that was requested; X may have shown another.
    """
    tweets = answer.posts.keys() | answer.broken.keys()
    if not answer.edited and not answer.strangers:
        return len(asked.unpaid & tweets), len(tweets)
    shown_ids = {post.id for post in answer.posts.values()}
    shown_ids |= {_newest_of(id, prior) for id in answer.broken}
    paid = {_newest_of(id, prior) for id in asked.batch.keys if id not in asked.unpaid}
    return len(shown_ids - paid) + answer.strangers, len(shown_ids) + answer.strangers


def learn_edits(
    asked: BatchGrant, answer: Lookup, prior: Mapping[int, Prior], saved: Saved, *, at: datetime
) -> frozenset[int]:
    """Learn what is new: unknown versions, and the text of one that X had not shown before.

    Returns the tweets that rest from now on, as versions of others.
    """
    new = {
        id: answer.posts[id]
        for id in answer.edited
        if id in saved.ours and _is_new(id, answer, prior.get(id, NO_PRIOR))
    }
    if not new:
        return frozenset()
    merged = learn([SeenVersion(post, at) for post in new.values()])
    # Learning a newer version marks the tweet as unpaid; the ones that X showed are paid already.
    shown_ids = [id for id, post in new.items() if post.id == post.edit_history[-1]]
    mark_paid(shown_ids, day=asked.payment.day, project=asked.payment.project)
    return merged


def _is_new(id: int, answer: Lookup, prior: Prior) -> bool:
    post = answer.posts[id]
    return post.edit_history[-1] != prior.newest or (prior.is_new and post.id == prior.newest)
