"""What the rest of the day needs, estimated in one pass for all projects.

the youngest look-ups, each + a random sample of the older ones ─> counts by payer, tier and time

The pass reads at most EXACTLY + DRAWN rows, however many wait. Up to EXACTLY look-ups are counted.
Beyond that each sampled one stands for 32, or for more when DRAWN cuts the sample. The standard
error of a count is sqrt(count * that number): 4,000 for half a million tweets among a million, and
41,000 for five million among ten, both 0.8 %.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from trackers.schedule.intervals import Plan
from trackers.tweets.snowflake import LOW_BITS, TWEPOCH_MS, first_id_at
from trackers.updater.models import HASHES, IN_SAMPLE, SAMPLED_HASHES
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

# This many of the youngest are counted: they come first, and a sample of so few would say little.
COUNTED_EXACTLY = 30_000
# The largest sample of the others.
MAX_SAMPLE = 30_000
# The resolution of due times; a day's plan needs no finer one.
_SLOT = timedelta(minutes=10)
FULL_DAY = timedelta(days=1)

BORN_MS = f"coalesce(extract(epoch FROM t.created_at) * 1000, (t.id >> {LOW_BITS}) + {TWEPOCH_MS})"
COUNTED = statement(
    __file__, "_counted", in_sample=IN_SAMPLE, hashes=HASHES, sampled_hashes=SAMPLED_HASHES
)
_NEEDS = statement(__file__, "needs", counted=COUNTED, born_ms=BORN_MS)


@dataclass(frozen=True, slots=True)
class UnpaidSlot:
    """Tweets that a project paid for last (None: nobody yet), of one tier, due in one slot."""

    paid_by: int | None
    tier: int
    slot: int
    count: float
    variance: float


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of all projects."""

    arrivals: float  # new tweets a day
    unpaid: Sequence[UnpaidSlot]
    tiers: int

    def of(
        self, project: int, *, homeless_to: int, cannot_pay: Collection[int] = ()
    ) -> ProjectNeeds:
        """What one project must pay for, with its share of the tweets that have no project, or one
        that cannot pay now: these go to `homeless_to` projects like it."""
        of_homeless = 1 / homeless_to if homeless_to else 0.0
        homeless = {None, *cannot_pay} - {project}
        counts, variances = [0.0] * self.tiers, [0.0] * self.tiers
        due: dict[int, float] = {}
        for unpaid in self.unpaid:
            if unpaid.paid_by != project and unpaid.paid_by not in homeless:
                continue
            share = 1.0 if unpaid.paid_by == project else of_homeless
            counts[unpaid.tier] += unpaid.count * share
            variances[unpaid.tier] += unpaid.variance * share**2
            due[unpaid.slot] = due.get(unpaid.slot, 0.0) + unpaid.count * share
        return ProjectNeeds(counts, variances, sorted(due.items()), self.arrivals * of_homeless)


@dataclass(frozen=True, slots=True)
class ProjectNeeds:
    """What one project must pay for: by tier, with the estimates' variances, and by slot."""

    counts: Sequence[float]
    variances: Sequence[float]
    due: Sequence[tuple[int, float]]
    arrivals: float


def read_needs(plan: Plan, *, now: datetime, day: date, next_day: datetime) -> Needs:
    """What must still be paid for on X's `day`, which ends at `next_day`."""
    # Tweets older than the last tier are not in the queue.
    seen_for = min(FULL_DAY, plan.tiers[-1].younger_than)
    params = {
        "exactly": COUNTED_EXACTLY,
        "drawn": MAX_SAMPLE,
        "now": now,
        "now_ms": now.timestamp() * 1000,
        "bounds": array(tier.younger_than.total_seconds() * 1000 for tier in plan.tiers),
        "slot": _SLOT.total_seconds(),
        "day": day,
        "next_day": next_day,
        "since": first_id_at(int((now - seen_for).timestamp() * 1000)),
    }
    with cursor() as db:
        rows = db.execute(_NEEDS, params).fetchall()
    unpaid = [UnpaidSlot(*row[1:]) for row in rows if row[2] is not None]
    return Needs(rows[0][0] * (FULL_DAY / seen_for), unpaid, len(plan.tiers))


def dry_at(due: Iterable[tuple[int, float]], left: float, *, now: datetime) -> datetime | None:
    """When the money will run out, judging by what is due; None: it lasts."""
    for slot, count in due:
        if count > left:
            return now + _SLOT * (slot + left / count)
        left -= count
    return None
