"""What a change of the intervals costs, as lines for people: in the admin and in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from trackers.credentials.models import Credential
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.money.models import Project
from trackers.schedule.capacity import capacity
from trackers.schedule.census import census
from trackers.schedule.cost import Cost, CostChange, cost
from trackers.schedule.intervals import current, plan
from trackers.schedule.models import Interval
from trackers.schedule.population import rates
from trackers.schedule.validate import IntervalRow

_DAY_SECONDS = 86400
_MONTH = 30
_UNCOUNTED = "not counted yet: a running qcluster counts the tweets"
_NO_WINDOWS = "unknown: X has not reported its rate limits yet"


@dataclass(frozen=True, slots=True)
class CostLine:
    what: str
    now: str
    after: str


@dataclass(frozen=True, slots=True)
class Estimate:
    change: CostChange
    lines: list[CostLine]

    @property
    def question(self) -> str:
        return (
            f"This asks X for {self.change.times:.1f} times as much as now. Check the cost, then "
            "confirm."
        )


def row_of_interval(interval: Interval) -> IntervalRow:
    return IntervalRow(
        interval.younger_than,
        interval.every,
        interval.jitter,
        interval.enabled,
        interval.accuracy,
        interval.at_most,
        interval.at_least,
    )


def estimate(after: Iterable[IntervalRow]) -> Estimate:
    """The cost of these rows against the current ones, for the tweets that the census counted."""
    now, after = timezone.now(), list(after)
    ages = census(current()[1], now=now).ages
    before = [row_of_interval(interval) for interval in Interval.objects.all()]
    change = CostChange(*(cost(rows, ages, rates(plan(rows), now=now)) for rows in (before, after)))
    return Estimate(change, lines_of(change))


def lines_of(change: CostChange) -> list[CostLine]:
    before, after = change.before, change.after
    request_keys = Queue.objects.get(pk=TWEET_UPDATE).request_keys
    rate, price = capacity(request_keys).windows, _highest_price()

    def shares(lookups: float | None) -> str:
        if lookups is None:
            return _UNCOUNTED
        return f"{lookups / (rate * _DAY_SECONDS):.1%}" if rate else _NO_WINDOWS

    def requests(each: Cost) -> str:
        return _with_error(
            None if each.lookups is None else each.lookups / request_keys, each.error
        )

    def dollars(each: Cost, days: int) -> str:
        if each.tweet_days is None:
            return _UNCOUNTED
        amount = f"${Decimal(each.tweet_days) * days * price:,.2f}"
        return _margin(amount, each.days_error if each.tweet_days else 0.0)

    return [
        CostLine(
            "Look-ups of one tweet, over its life",
            _count_or_uncounted(before.life),
            _count_or_uncounted(after.life),
        ),
        CostLine(
            "Look-ups a day", *(_with_error(each.lookups, each.error) for each in (before, after))
        ),
        CostLine("Requests to X a day", requests(before), requests(after)),
        CostLine("Share of X's rate limit", shares(before.lookups), shares(after.lookups)),
        CostLine(
            "Tweet-days a day",
            *(_with_error(each.tweet_days, each.days_error) for each in (before, after)),
        ),
        *(
            CostLine(
                f"Cost {spell}, at ${price.normalize():f} a tweet-day",
                *(dollars(each, days) for each in (before, after)),
            )
            for spell, days in (("a day", 1), (f"in {_MONTH} days", _MONTH))
        ),
    ]


def _count_or_uncounted(value: float | None) -> str:
    return _UNCOUNTED if value is None else f"{value:,.0f}"


def _with_error(value: float | None, error: float) -> str:
    """A number and its possible error: where intervals adapt, it comes from a sample."""
    return _margin(_count_or_uncounted(value), error if value else 0.0)


def _margin(text: str, error: float) -> str:
    return f"{text} ± {math.ceil(100 * error)}%" if error else text


def _highest_price() -> Decimal:
    """The highest price among projects with an enabled credential; without any, among all."""
    used = Credential.objects.enabled().values("app__project")
    projects = Project.objects.filter(pk__in=used) or Project.objects.all()
    default: Decimal = Project._meta.get_field("price_of_a_post").default
    return max((project.price_of_a_post for project in projects), default=default)
