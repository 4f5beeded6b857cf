"""The one statement that writes a batch: metrics, samples, next checks, fenced by its lease."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import chain

import orjson

from trackers.jobs.models import BUCKET_KEYS
from trackers.jobs.queue import Batch, new_stamp
from trackers.outbox.staging import SELECT_TWEETS_TOPIC, later
from trackers.schedule import adapt
from trackers.schedule.intervals import Plan, jittered
from trackers.tweets.record import recording
from trackers.updater.verdicts import Verdict
from trackers.xapi.results import Shown
from tweetwatch.database import array, cursor

# After twice the interval for its age at this measurement a tweet's run of metrics has a hole.
HOLE = """
    coalesce(m.hole_after, (%(holes)s::float8[])[coalesce(
        trackers_tier_v1(date_part('epoch', m.at - t.created_at), %(bounds)s::float8[]),
        cardinality(%(holes)s::float8[]))]) * interval '1 second'
"""
SAVE = recording(
    __file__,
    "save",
    bucket_keys=BUCKET_KEYS,
    stretch_most=adapt.STRETCH_MOST,
    hole=HOLE,
    # Not needed: the job's row is locked, and a deletion of the tweet locks that first.
    late_lock="",
    more=f"""
        UNION ALL
        SELECT ({SELECT_TWEETS_TOPIC}), 'delete', {later("at", "since")}, id, NULL, NULL FROM unseen
        WHERE ({SELECT_TWEETS_TOPIC}) IS NOT NULL AND gone AND gone_at IS NULL
    """,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome for the tweets of one request: a verdict each, or only new counts.

    X answered `at`, and billed the project `paid_by` on the UTC day `paid_on`.
    """

    verdicts: Sequence[Verdict] | Shown
    at: datetime
    paid_on: date | None = None
    paid_by: int | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """What was written.

    `ours`: tweets whose claim was still valid; nothing was written for the others. `changed`: how
    many have new metrics. `undescribed`: tweets whose description X's answer may fill in.
    """

    ours: frozenset[int]
    changed: int
    undescribed: frozenset[int]


NOTHING_SAVED = Saved(frozenset(), 0, frozenset())


def save(batch: Batch, judged: Sequence[Judged], plan: Plan) -> Saved:
    """Write what X said about the tweets of a batch, and when each is looked up again."""
    with cursor() as db:
        found = db.execute(SAVE.on(db), columns(batch, judged, plan)).fetchone()
    assert found is not None
    ours, changed, undescribed = found
    return Saved(frozenset(ours or ()), changed, frozenset(undescribed or ()))


UNKNOWN = (None,) * 6


def columns(batch: Batch, judged: Sequence[Judged], plan: Plan) -> dict[str, object]:
    """The parameters of SAVE: tweets with a verdict first, then those with only counts."""
    verdicts: list[Verdict] = []
    shown: list[Shown] = []
    ids: list[int] = []
    request: list[int] = []
    for place, part in enumerate(judged, 1):
        if not isinstance(part.verdicts, Shown):
            verdicts += part.verdicts
            request += [place] * len(part.verdicts)
    ids += [one.tweet_id for one in verdicts]
    for place, part in enumerate(judged, 1):
        if isinstance(part.verdicts, Shown):
            shown.append(part.verdicts)
            ids += part.verdicts.ids
            request += [place] * len(part.verdicts.ids)
    counts = [one.figures or UNKNOWN for one in verdicts]
    figures = [
        array(chain(column, *(one.figures[place] for one in shown)))
        for place, column in enumerate(zip(*counts, strict=True) if counts else [()] * 6)
    ]
    return {
        "lease": batch.lease,
        "stamp": new_stamp(),
        "ids": array(ids),
        "request": array(request),
        "ats": [one.at for one in judged],
        "paid_on": [one.paid_on for one in judged],
        "paid_by": [one.paid_by for one in judged],
        "kind": array(map(kind, verdicts)),
        "due_in": array(seconds(one.due_in) for one in verdicts),
        "gone": array(one.gone for one in verdicts),
        "hole_after": array(seconds(one.hole_after) for one in verdicts),
        "urgent": array(one.urgent for one in verdicts),
        "mixed": not all(one.figures for one in verdicts),
        "broken": reasons(verdicts),
        **dict(zip(("rt", "re", "li", "qu", "bo", "im"), figures, strict=True)),
        **of_plan(plan),
    }


def of_plan(plan: Plan) -> dict[str, object]:
    """The intervals as SAVE needs them, for the same rules as `Plan.tier` and `hole_after`."""
    bounds = [tier.bounds or (None, None, None) for tier in plan.tiers]
    return {
        "bounds": [tier.younger_than.total_seconds() for tier in plan.tiers],
        # One jitter for a whole tier, so that its tweets stay together.
        "every": [jittered(tier).total_seconds() for tier in plan.tiers],
        # Tweets too old for any tier have the last one's.
        "holes": [seconds(plan.hole_after(tier)) for tier in [*plan.tiers, *plan.tiers[-1:]]],
        "accuracy": [one[0] for one in bounds],
        "at_most": [one[1] for one in bounds],
        "at_least": [one[2] for one in bounds],
        "jitter": [tier.jitter for tier in plan.tiers],
        "stretch": plan.stretch,
        "day_stretch": plan.day_stretch,
    }


def reasons(verdicts: Iterable[Verdict]) -> str:
    """Why some tweets could not be read, as JSON; hardly any batch has such tweets."""
    told = {str(one.tweet_id): one.broken[:200] for one in verdicts if one.broken}
    return orjson.dumps(told).decode()


def kind(verdict: Verdict) -> str:
    """The verdict's name in SAVE, as an element of a text array."""
    if verdict.figures:
        return "measured"
    return verdict.missing or ("broken" if verdict.broken else '""')


def seconds(time: timedelta | None) -> float | None:
    return None if time is None else time.total_seconds()
