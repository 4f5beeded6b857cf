"""What the look-ups of a file's tweets cost, before any of them is tracked.

tweets without counts of a known time ─> look-ups ─> dollars and hours, and which budget pays
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.money.balances import read_balances
from trackers.money.models import Project
from trackers.schedule.capacity import capacity

_SOME_HOURS = 0.1
_A_DAY = 24


@dataclass(frozen=True, slots=True)
class LookupCost:
    """What so many first look-ups cost, as the budgets and the windows stand now."""

    tweets: int
    dollars: Decimal
    budgets: tuple[str, ...] = ()  # the projects that may pay
    left: int | None = None  # tweet-days that they may still spend today; None: no limit
    hours: float | None = None  # by X's windows and the workers; None: unknown

    @property
    def is_over(self) -> bool:
        """Whether today's budget does not pay for all."""
        return self.left is not None and self.tweets > self.left

    def __str__(self) -> str:
        if not self.tweets:
            return "Nothing of it has to be looked up at once."
        tweets = f"{self.tweets:,} tweet{'s' if self.tweets > 1 else ''}"
        if not self.budgets:
            return f"Looking up {tweets} is billed by X, and no project can pay for it now."
        words = [f"Looking up {tweets} costs about ${self.dollars:,.2f}"]
        if self.hours is not None:
            words.append(f" and takes {_spoken_hours(self.hours)}")
        if self.budgets:
            words.append(f", paid by {' and '.join(self.budgets)}")
        words.append(".")
        if self.left is not None:
            words.append(f" Today's budget has room for {self.left:,}")
            words.append("; the rest waits for the next days." if self.is_over else ".")
        return "".join(words)


def _spoken_hours(hours: float) -> str:
    if hours < _SOME_HOURS:
        return "a few minutes"
    if hours <= _A_DAY:
        return f"about {hours:,.1f} hours"
    return f"about {hours / _A_DAY:,.1f} days"


def cost_of_lookups(tweets: int) -> LookupCost:
    """The first look-up of each; what is tracked already costs nothing more, and is not known."""
    balances = [balance for balance in read_balances() if balance.usable]
    projects = Project.objects.in_bulk([balance.project for balance in balances])
    price = max((project.price_of_a_post for project in projects.values()), default=Decimal(0))
    left = [balance.left for balance in balances]
    limits = [each for each in left if each is not None]
    queue = Queue.objects.filter(pk=TWEET_UPDATE).first()
    a_second = capacity(queue.request_keys).least if queue else None
    return LookupCost(
        tweets,
        tweets * price,
        tuple(sorted(project.name for project in projects.values())),
        sum(limits) if balances and len(limits) == len(left) else None,
        tweets / a_second / 3600 if a_second else None,
    )
