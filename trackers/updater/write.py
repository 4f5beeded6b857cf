"""Write X's answers for a batch: the metrics first, then whatever else is new.

answers ─> a verdict per tweet ─> one statement ─> what they cost ─> edits, texts, withholding
A tweet that will not be looked up again is described before its metrics are saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from django.db import DatabaseError, InterfaceError, transaction

from trackers.arrivals.arrive import arrive
from trackers.credentials import selection
from trackers.jobs.queue import Batch
from trackers.money import ledger
from trackers.money.ledger import Settlement
from trackers.tweets.describe import describe, withhold
from trackers.updater.before import NO_PRIOR, Before, Prior, read_priors
from trackers.updater.edits import count_billed, learn_edits
from trackers.updater.lookups import Answered
from trackers.updater.reserve import BatchGrant
from trackers.updater.save import NOTHING_SAVED, Judged, Saved, save_batch
from trackers.updater.unsaved import keep_unsaved, record_unsaved
from trackers.updater.verdicts import CheckRules, reach_verdicts
from trackers.xapi.results import Lookup, Post, Shown
from tweetwatch.database import retry_while_lost, together


class Written(NamedTuple):
    saved: Saved
    # The tweets for which X, for the first time, gave nothing readable, and why.
    unreadable: Mapping[int, str]


def write_answers(
    batch: Batch, answers: Sequence[Answered], before: Before, rules: CheckRules, *, until: float
) -> Written:
    """Save what X said, settle what it cost, and store what else is new."""
    if not answers:
        return Written(NOTHING_SAVED, {})
    settlements = [_settlement(answered, before.odd) for answered in answers]
    try:
        known, judged, saved = _save(batch, answers, before, rules, until=until)
    except (DatabaseError, InterfaceError):
        keep_unsaved(answers, settlements)
        # It may be only this statement that fails, as where a column is missing.
        with suppress(DatabaseError, InterfaceError):
            record_unsaved()
        raise
    # Locks: the windows' rows, then those of the day's spending.
    with together():
        selection.settle_all_answered(
            [(answered.grant.selected, answered.reply.window) for answered in answers]
        )
        ledger.settle_all(settlements)
    for answered in answers:
        if isinstance(answered.reply, Lookup):
            _write_besides(answered.grant, answered.reply, known, saved, at=answered.at)
    return Written(saved, _newly_unreadable(judged, known, saved))


def _save(
    batch: Batch, answers: Sequence[Answered], before: Before, rules: CheckRules, *, until: float
) -> tuple[Mapping[int, Prior], Sequence[Judged], Saved]:
    """What was known, the verdicts, and what was saved of them."""
    known = retry_while_lost(lambda: _priors_of(answers, before), until=until)
    judged = [_judge(answered, known, rules) for answered in answers]
    if last := _last_descriptions(answers, judged, known):
        retry_while_lost(lambda: _store_descriptions(last), until=until)
    # Save first, since X billed it; what is not settled counts as spent.
    saved = retry_while_lost(lambda: save_batch(batch, judged, before.plan), until=until)
    return known, judged, saved


def _priors_of(answers: Iterable[Answered], before: Before) -> Mapping[int, Prior]:
    """What is known about each tweet for which X gave more than counts."""
    ids = {
        id
        for answered in answers
        if isinstance(answered.reply, Lookup)
        for id in answered.grant.batch.keys
    }
    usual = ids - before.odd.keys()
    return {**(read_priors(usual) if usual else {}), **before.odd}


def _store_descriptions(posts: Mapping[int, Post]) -> None:
    """Describe the tweets, and add them to the homes that follow their authors."""
    if posts:
        with transaction.atomic():
            describe([post._replace(id=id) for id, post in posts.items()])
            arrive((), described=posts)


def _judge(answered: Answered, known: Mapping[int, Prior], rules: CheckRules) -> Judged:
    grant, reply, at = answered.grant, answered.reply, answered.at
    judged = (
        [*reach_verdicts(grant.batch.keys, reply, known, rules, now=at)]
        if isinstance(reply, Lookup)
        else reply
    )
    return Judged(judged, at=at, paid_on=grant.payment.day, paid_by=grant.selected.project)


def _last_descriptions(
    answers: Iterable[Answered], judged: Iterable[Judged], prior: Mapping[int, Prior]
) -> Mapping[int, Post]:
    """The posts of tweets that are not described yet and will not be looked up again.

    Their texts are written before their metrics. After a crash between the two they are still
    claimed, and are looked up again; in the other order they would never get a text. Edited tweets
    are left out, since their edits must be learnt first.
    """
    return {
        verdict.tweet_id: answered.reply.posts[verdict.tweet_id]
        for answered, part in zip(answers, judged, strict=True)
        if isinstance(answered.reply, Lookup) and not isinstance(part.verdicts, Shown)
        for verdict in part.verdicts
        if verdict.figures
        and verdict.due_in is None
        and not prior.get(verdict.tweet_id, NO_PRIOR).is_described
        and verdict.tweet_id not in answered.reply.edited
    }


def _write_besides(
    asked: BatchGrant, answer: Lookup, prior: Mapping[int, Prior], saved: Saved, *, at: datetime
) -> None:
    """Write what X says about the tweets besides their metrics, where it is new.

    Each step is committed separately: the next look-up does what a crash leaves undone, and tweets
    without a next one were described before (`_last_descriptions`). Edits go first, or their text
    would be mistaken for that of the tracked version.
    """
    merged: frozenset[int] = frozenset()
    if answer.edited:
        merged = learn_edits(asked, answer, prior, saved, at=at)
    _store_descriptions(
        {id: answer.posts[id] for id in (saved.undescribed & answer.posts.keys()) - merged}
    )
    if withheld := {
        id: post.withheld
        for id, post in answer.posts.items()
        if post.withheld != prior.get(id, NO_PRIOR).withheld and id in saved.ours
    }:
        withhold(withheld)


def _newly_unreadable(
    judged: Iterable[Judged], prior: Mapping[int, Prior], saved: Saved
) -> Mapping[int, str]:
    """Tweets to report as unreadable: once, not each time that they are requested again."""
    return {
        verdict.tweet_id: verdict.broken or "X left it out of its answer"
        for part in judged
        if not isinstance(part.verdicts, Shown)
        for verdict in part.verdicts
        if not (
            verdict.figures or verdict.missing or prior.get(verdict.tweet_id, NO_PRIOR).unreadable
        )
        and verdict.tweet_id in saved.ours
    }


def _settlement(answered: Answered, prior: Mapping[int, Prior]) -> Settlement:
    """X bills whatever it showed, readable or not, and each version by its own id."""
    grant, reply = answered.grant, answered.reply
    if isinstance(reply, Lookup):
        posts, shown_count = count_billed(grant, reply, prior)
    else:
        posts, shown_count = len(grant.unpaid), len(reply.ids)
    x_now = reply.window.seen_at if reply.window else None
    return Settlement(grant.payment, posts=posts, all_posts=shown_count, x_now=x_now)
