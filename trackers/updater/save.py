"""The one statement that writes a batch: metrics, samples, next checks, fenced by its lease."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import chain

import orjson

from trackers.happenings.write import UNSEEN_HAPPENED
from trackers.jobs.models import BUCKET_KEYS
from trackers.jobs.queue import Batch, new_stamp
from trackers.outbox.staging import SELECT_TWEETS_TOPIC, later
from trackers.schedule import adapt
from trackers.schedule.intervals import Plan, jittered
from trackers.tweets.presence import counting_presences
from trackers.tweets.record import recording
from trackers.tweets.uncounted import noting_uncounted
from trackers.updater.verdicts import Verdict
from trackers.xapi.results import Shown
from tweetwatch.database import array, cursor

# After twice the interval for its age at this measurement a tweet's run of metrics has a hole.
_HOLE_AFTER = """
    coalesce(m.hole_after, (%(holes)s::float8[])[coalesce(
        trackers_tier_v1(date_part('epoch', m.at - t.created_at), %(bounds)s::float8[]),
        cardinality(%(holes)s::float8[]))]) * interval '1 second'
"""
# `recorded` counts those that were measured; a broken answer about an unasked tweet was billed too.
_PRESENCES = counting_presences("""
    SELECT id, trackers_presence_v1(reason_before, paid_before) AS before, reason AS after
    FROM unseen
    UNION ALL
    SELECT id, trackers_presence_v1(reason_before, paid_before),
           trackers_presence_v1(reason_before, coalesce(paid_on, paid_before))
    FROM held WHERE kind = 'broken' AND paid_before IS NULL
""")
SAVE = recording(
    __file__,
    "save",
    counted=_PRESENCES,
    uncounted=noting_uncounted("SELECT id FROM unseen WHERE gone AND gone_at IS NULL"),
    bucket_keys=BUCKET_KEYS,
    stretch_most=adapt.MAX_AT_LEAST_STRETCH,
    hole=_HOLE_AFTER,
    is_of_now=True,
    happened=UNSEEN_HAPPENED,
    more=f"""
        UNION ALL
        SELECT ({SELECT_TWEETS_TOPIC}), 'delete', {later("at", "since")}, id, NULL FROM unseen
        WHERE ({SELECT_TWEETS_TOPIC}) IS NOT NULL AND gone AND gone_at IS NULL
    """,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome for the tweets of one request: a verdict each, or only new counts."""

    verdicts: Sequence[Verdict] | Shown
    at: datetime  # when X answered
    paid_on: date | None = None  # the UTC day that X billed
    paid_by: int | None = None  # the project


@dataclass(frozen=True, slots=True)
class Saved:
    """What was written."""

    ours: frozenset[int]  # tweets whose claim was still valid; nothing was written for the others
    changed: int  # how many have new metrics
    undescribed: frozenset[int]  # tweets whose description X's answer may fill in


NOTHING_SAVED = Saved(frozenset(), 0, frozenset())


def save_batch(batch: Batch, judged: Sequence[Judged], plan: Plan) -> Saved:
    """Write what X said about the tweets of a batch, and when each is looked up again."""
    with cursor() as db:
        row = db.execute(SAVE.on(db), save_params(batch, judged, plan)).fetchone()
    assert row is not None
    ours, changed, undescribed = row
    return Saved(frozenset(ours or ()), changed, frozenset(undescribed or ()))


_NO_COUNTS = (None,) * 6


def save_params(batch: Batch, judged: Sequence[Judged], plan: Plan) -> dict[str, object]:
    """The parameters of SAVE: tweets with a verdict first, then those with only counts."""
    verdicts: list[Verdict] = []
    counts_only: list[Shown] = []
    ids: list[int] = []
    request: list[int] = []
    for place, part in enumerate(judged, 1):
        if not isinstance(part.verdicts, Shown):
            verdicts += part.verdicts
            request += [place] * len(part.verdicts)
    ids += [item.tweet_id for item in verdicts]
    for place, part in enumerate(judged, 1):
        if isinstance(part.verdicts, Shown):
            counts_only.append(part.verdicts)
            ids += part.verdicts.ids
            request += [place] * len(part.verdicts.ids)
    counts = [item.figures or _NO_COUNTS for item in verdicts]
    figures = [
        array(chain(column, *(item.figures[place] for item in counts_only)))
        for place, column in enumerate(zip(*counts, strict=True) if counts else [()] * 6)
    ]
    return {
        "lease": batch.lease,
        "stamp": new_stamp(),
        "ids": array(ids),
        "request": array(request),
        "ats": [item.at for item in judged],
        "paid_on": [item.paid_on for item in judged],
        "paid_by": [item.paid_by for item in judged],
        "kind": array(map(_verdict_name, verdicts)),
        "due_in": array(_seconds_or_none(item.due_in) for item in verdicts),
        "gone": array(item.gone for item in verdicts),
        "hole_after": array(_seconds_or_none(item.hole_after) for item in verdicts),
        "urgent": array(item.urgent for item in verdicts),
        "mixed": not all(item.figures for item in verdicts),
        "broken": _broken_reasons(verdicts),
        **dict(zip(("rt", "re", "li", "qu", "bo", "vi"), figures, strict=True)),
        **_plan_params(plan),
    }


def _plan_params(plan: Plan) -> dict[str, object]:
    """The intervals as SAVE needs them, for the same rules as `Plan.tier` and `hole_after`."""
    bounds = [tier.bounds or (None, None, None) for tier in plan.tiers]
    return {
        "bounds": [tier.younger_than.total_seconds() for tier in plan.tiers],
        # One jitter for a whole tier, so that its tweets stay together.
        "every": [jittered(tier).total_seconds() for tier in plan.tiers],
        # Tweets too old for any tier have the last one's.
        "holes": [
            _seconds_or_none(plan.hole_after(tier)) for tier in [*plan.tiers, *plan.tiers[-1:]]
        ],
        "accuracy": [bound[0] for bound in bounds],
        "at_most": [bound[1] for bound in bounds],
        "at_least": [bound[2] for bound in bounds],
        "jitter": [tier.jitter for tier in plan.tiers],
        "stretch": plan.stretch,
        "day_stretch": plan.day_stretch,
    }


def _broken_reasons(verdicts: Iterable[Verdict]) -> str:
    """Why some tweets could not be read, as JSON; hardly any batch has such tweets."""
    by_tweet_id = {
        str(verdict.tweet_id): verdict.broken[:200] for verdict in verdicts if verdict.broken
    }
    return orjson.dumps(by_tweet_id).decode()


def _verdict_name(verdict: Verdict) -> str:
    """The verdict's name in SAVE, as an element of a text array."""
    if verdict.figures:
        return "measured"
    return verdict.missing or ("broken" if verdict.broken else '""')


def _seconds_or_none(time: timedelta | None) -> float | None:
    return None if time is None else time.total_seconds()
