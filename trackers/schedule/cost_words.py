"""What a change of the intervals costs, as lines for people: in the admin and in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from trackers.credentials.models import Credential
from trackers.jobs.models import Namespace
from trackers.money.projects import Project
from trackers.schedule.capacity import capacity
from trackers.schedule.census import census
from trackers.schedule.cost import Change, Cost, cost
from trackers.schedule.intervals import current, plan
from trackers.schedule.models import Interval
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.schedule.population import rates
from trackers.schedule.validate import Row

DAY_SECONDS = 86400
MONTH = 30
UNCOUNTED = "not counted yet: a running qcluster counts the tweets"
NO_WINDOWS = "unknown: X has not reported its rate limits yet"


@dataclass(frozen=True, slots=True)
class Line:
    what: str
    now: str
    after: str


@dataclass(frozen=True, slots=True)
class Estimate:
    change: Change
    lines: list[Line]

    @property
    def question(self) -> str:
        return (
            f"This asks X for {self.change.times:.1f} times as much as now. Check the cost, then "
            "confirm."
        )


def written(interval: Interval) -> Row:
    return Row(
        interval.younger_than,
        interval.every,
        interval.jitter,
        interval.enabled,
        interval.accuracy,
        interval.at_most,
        interval.at_least,
    )


def estimate(after: Iterable[Row]) -> Estimate:
    """The cost of these rows against the current ones, for the tweets that the census counted."""
    now, after = timezone.now(), list(after)
    ages = census(current()[1], now=now).ages
    before = [written(one) for one in Interval.objects.all()]
    change = Change(*(cost(rows, ages, rates(plan(rows), now=now)) for rows in (before, after)))
    return Estimate(change, lines_of(change))


def lines_of(change: Change) -> list[Line]:
    before, after = change.before, change.after
    request_keys = Namespace.objects.get(pk=TWEET_UPDATE).request_keys
    rate, price = capacity(request_keys).windows, dearest()

    def shares(lookups: float | None) -> str:
        if lookups is None:
            return UNCOUNTED
        return f"{lookups / (rate * DAY_SECONDS):.1%}" if rate else NO_WINDOWS

    def requests(one: Cost) -> str:
        return within(None if one.lookups is None else one.lookups / request_keys, one.error)

    def dollars(one: Cost, days: int) -> str:
        if one.tweet_days is None:
            return UNCOUNTED
        amount = f"${Decimal(one.tweet_days) * days * price:,.2f}"
        return margin(amount, one.days_error if one.tweet_days else 0.0)

    return [
        Line("Look-ups of one tweet, over its life", number(before.life), number(after.life)),
        Line("Look-ups a day", *(within(one.lookups, one.error) for one in (before, after))),
        Line("Requests to X a day", requests(before), requests(after)),
        Line("Share of X's rate limit", shares(before.lookups), shares(after.lookups)),
        Line(
            "Tweet-days a day",
            *(within(one.tweet_days, one.days_error) for one in (before, after)),
        ),
        *(
            Line(
                f"Cost {spell}, at ${price.normalize():f} a tweet-day",
                *(dollars(one, days) for one in (before, after)),
            )
            for spell, days in (("a day", 1), (f"in {MONTH} days", MONTH))
        ),
    ]


def number(value: float | None) -> str:
    return UNCOUNTED if value is None else f"{value:,.0f}"


def within(value: float | None, error: float) -> str:
    """A number and its possible error: where intervals adapt, it comes from a sample."""
    return margin(number(value), error if value else 0.0)


def margin(said: str, error: float) -> str:
    return f"{said} ± {math.ceil(100 * error)}%" if error else said


def dearest() -> Decimal:
    """The highest price among projects with an enabled credential; without any, among all."""
    used = Credential.objects.enabled().values("app__project")
    projects = Project.objects.filter(pk__in=used) or Project.objects.all()
    default: Decimal = Project._meta.get_field("price_of_a_post").default
    return max((project.price_of_a_post for project in projects), default=default)
