"""What the address of a set's page asks for: a period, an age, a metric."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from urllib.parse import urlencode

from django.http import QueryDict

from trackers.sets.period_figures import SET_AGES, default_age
from trackers.sets.periods import CUSTOM, DAYS, Period, custom_period, named_period
from trackers.tweets.labels import LABELS

_DEFAULT_PERIOD, _DEFAULT_METRIC = "7d", "views"


@dataclass(frozen=True, slots=True)
class SetQuery:
    period: Period
    age: str  # of SET_AGES
    metric: str
    problem: str = field(default="", compare=False)  # with the days that were typed

    def address(self, **changed: str) -> str:
        """The query of this page, or of one that differs in this; the same one is always written
        in the same way."""
        period = changed.pop("period", self.period.name)
        asked = replace(self, **changed) if changed else self  # type: ignore[arg-type]
        # An age that was chosen stays; the others follow the period.
        age = asked.age if "age" in changed or asked.age != default_age(self.period.name) else ""
        params = {
            "period": period if period not in (_DEFAULT_PERIOD, CUSTOM) else "",
            "from": self.first_day if period == CUSTOM else "",
            "until": self.last_day if period == CUSTOM else "",
            "age": "" if age == default_age(period) else age,
            "metric": asked.metric if asked.metric != _DEFAULT_METRIC else "",
        }
        return urlencode({name: value for name, value in params.items() if value})

    @property
    def is_custom(self) -> bool:
        return self.period.name == CUSTOM

    @property
    def first_day(self) -> str:
        """As a form takes it."""
        return f"{self.period.this.since.astimezone(self.period.zone):%Y-%m-%d}"

    @property
    def last_day(self) -> str:
        return f"{self.period.steps[-1][0].since.astimezone(self.period.zone):%Y-%m-%d}"


def parse_set_query(query: QueryDict, zone: tzinfo, *, now: datetime) -> SetQuery:
    """Read the address, ignoring what is invalid in it, but for days that a person typed."""
    name, problem = query.get("period", ""), ""
    period = named_period(name if name in DAYS else _DEFAULT_PERIOD, zone, now=now)
    if query.get("from") or query.get("until"):
        try:
            days = _day(query.get("from", "")), _day(query.get("until", ""))
            period = custom_period(*days, zone, now=now)
        except ValueError as error:
            problem = str(error)
    age, metric = query.get("age", ""), query.get("metric", "")
    return SetQuery(
        period,
        age if age in SET_AGES else default_age(period.name),
        metric if metric in LABELS else _DEFAULT_METRIC,
        problem,
    )


def _day(typed: str) -> date:
    try:
        return date.fromisoformat(typed)
    except ValueError:
        raise ValueError("A period takes its first and its last day.") from None
