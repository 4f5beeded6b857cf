"""What a change of the intervals costs, as lines for people: in the admin and in the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from django.conf import settings

from trackers.credentials.models import Credential
from trackers.forecasts.cost import Cost, CostChange, cost
from trackers.forecasts.day import to_midnight
from trackers.forecasts.inputs import read_asked
from trackers.forecasts.population import SAMPLE_FOR_COST
from trackers.forecasts.stored import stored_forecast
from trackers.forecasts.update import corrections
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.money.models import Project
from trackers.schedule.capacity import capacity
from trackers.schedule.census import census
from trackers.schedule.intervals import current, plan
from trackers.schedule.models import Interval
from trackers.schedule.validate import IntervalRow

_DAY_SECONDS = 86400
_MONTH = 30
_NO_WINDOWS = "unknown: X has not reported its rate limits yet"
# Of what is computed from a sample, and of tweets that are yet to come.
_DIGITS = 4
ASSUMPTION = (
    "Tomorrow, as if X's rate limits and the budgets had room for all, with as many new posts as "
    "of late."
)


@dataclass(frozen=True, slots=True)
class CostLine:
    what: str
    now: str
    after: str


@dataclass(frozen=True, slots=True)
class Estimate:
    change: CostChange
    lines: list[CostLine]
    within: str  # what the forecast of tomorrow is within limits; empty: unknown

    @property
    def question(self) -> str:
        return (
            f"This asks X for {self.change.times:.1f} times as much as now. Check the cost, then "
            "confirm."
        )

    @property
    def assumption(self) -> str:
        return f"{ASSUMPTION} {self.within}".strip()


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
    """The cost of these rows against the current ones."""
    now, present = current()
    known = read_asked(present, SAMPLE_FOR_COST, now=now, gone_every=settings.GONE_EVERY)
    of_lookups, of_days = corrections(now.astimezone(UTC).date())
    known = replace(known, lookups_correction=of_lookups, days_correction=of_days)
    before = plan(row_of_interval(interval) for interval in Interval.objects.all())
    ages, prices = census(present, now=now).ages, _prices()
    costs = (
        cost(rows, known, prices, to_midnight=to_midnight(now), ages=ages)
        for rows in (before, plan(after))
    )
    change = CostChange(*costs)
    return Estimate(change, _lines_of(change), _within_limits(now=now))


def _prices() -> dict[int | None, Decimal]:
    """Of a tweet-day, by each project that has an enabled credential; without any, the highest."""
    used = Credential.objects.enabled().values("app__project")
    projects = Project.objects.filter(pk__in=used)
    prices: dict[int | None, Decimal] = {one.pk: one.price_of_a_post for one in projects}
    default: Decimal = Project._meta.get_field("price_of_a_post").default
    highest = max((one.price_of_a_post for one in Project.objects.all()), default=default)
    return {**prices, None: max(prices.values(), default=highest)}


def _within_limits(*, now: datetime) -> str:
    tomorrow = stored_forecast(now=now).tomorrow
    if tomorrow.expected_lookups is None or tomorrow.expected_tweet_days is None:
        return ""
    return (
        f"Within them, the forecast of tomorrow is {_figure(tomorrow.expected_lookups)} look-ups "
        f"and {_figure(tomorrow.expected_tweet_days)} tweet-days, with the present intervals."
    )


def _lines_of(change: CostChange) -> list[CostLine]:
    request_keys = Queue.objects.get(pk=TWEET_UPDATE).request_keys
    rate = capacity(request_keys).windows

    def share(each: Cost) -> str:
        return f"{each.lookups / (rate * _DAY_SECONDS):.1%}" if rate else _NO_WINDOWS

    figures = (
        ("Look-ups of one tweet, over its life", lambda each: f"{each.life:,.0f}"),
        ("Look-ups tomorrow", lambda each: _figure(each.lookups)),
        ("Requests to X tomorrow", lambda each: _figure(each.lookups / request_keys)),
        ("Share of X's rate limit", share),
        ("Tweet-days tomorrow", lambda each: _figure(each.tweet_days)),
        ("Cost tomorrow", lambda each: f"${each.money:,.2f}"),
        (f"Cost of {_MONTH} days like it", lambda each: f"${each.money * _MONTH:,.2f}"),
    )
    return [CostLine(what, words(change.before), words(change.after)) for what, words in figures]


def _figure(value: float) -> str:
    whole = round(value)
    return f"{round(whole, min(0, _DIGITS - len(str(whole)))):,}"
