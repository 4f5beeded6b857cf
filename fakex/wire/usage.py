"""`GET /2/usage/tweets`: posts billed by project, app and UTC day, as late and wrong as set; and
`GET /2/usage/credits`: what is left.

Numbers are strings as in OpenAPI 2.167 or integers as in 2.166; days come newest first.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import orjson

from fakex.account.billing import DAY_MS, Project, day_name, month_of
from fakex.settings import Numbers
from fakex.wire.replies import Reply
from fakex.wire.requests_v2 import Complaint, Invalid

_FIELDS = (
    "cap_reset_day",
    "daily_client_app_usage",
    "daily_project_usage",
    "project_cap",
    "project_id",
    "project_usage",
)
_AT_FIRST = frozenset({"cap_reset_day", "project_cap", "project_id", "project_usage"})
_MOST_DAYS, _DAYS = 90, 7
_USUAL_CAP = 3_000_000


@dataclass(frozen=True, slots=True)
class UsageAsk:
    days: int = _DAYS
    fields: frozenset[str] = _AT_FIRST
    ids: list[str] = field(default_factory=list)


def read_usage(query: str) -> UsageAsk:
    """The days and fields asked for; raises Invalid with all complaints."""
    params = dict(parse_qsl(query))
    days, asked = params.pop("days", str(_DAYS)), params.pop("usage.fields", "")
    named = [name for name in asked.split(",") if name]
    complaints: list[Complaint] = [
        (name, [value], f"The query parameter [{name}] is not one of [days,usage.fields]")
        for name, value in params.items()
    ]
    if not (days.isascii() and days.isdigit() and 1 <= int(days) <= _MOST_DAYS):
        message = f"The `days` query parameter value [{days}] is not between 1 and {_MOST_DAYS}"
        complaints.append(("days", [days], message))
    for name in named:
        if name not in _FIELDS:
            message = f"The `usage.fields` query parameter value [{name}] is not one of "
            complaints.append(("usage.fields", [name], f"{message}[{','.join(_FIELDS)}]"))
    if complaints:
        raise Invalid(complaints)
    return UsageAsk(int(days), frozenset(named) | {"project_id"} if named else _AT_FIRST)


def usage_body(ask: UsageAsk, project: Project, *, at_ms: int, numbers: Numbers) -> bytes:
    today = at_ms // DAY_MS
    late, drift = project.late(at_ms), project.terms.usage_drift
    number: Callable[[int], int | str] = str if numbers == "strings" else int
    by_day = Counter({n: day.billed for n, day in project.days.items()})
    by_app = {n: Counter(day.apps) for n, day in project.days.items()}
    for charged in late:
        by_day[charged.day] -= charged.posts
        by_app[charged.day][charged.app] -= charged.posts
    by_day[today] += drift
    month = month_of(today)
    days = range(today, today - ask.days, -1)
    project_id = numeric_id(project.name)
    data: dict[str, Any] = {
        # "Number of days left for the Tweet cap to reset" (OpenAPI 2.166); here by month.
        "cap_reset_day": next(n for n in range(1, 32) if month_of(today + n) != month),
        "daily_client_app_usage": [
            _app_usage(app, by_app, days, number)
            for app in sorted(set[str]().union(*by_app.values()))
        ],
        "daily_project_usage": {
            "project_id": number(project_id),
            "usage": _usage({n: by_day[n] for n in days if n in by_day}.items(), number),
        },
        "project_cap": number(project.terms.monthly_cap or _USUAL_CAP),
        "project_id": str(project_id),
        "project_usage": number(
            max(0, sum(posts for n, posts in by_day.items() if month_of(n) == month))
        ),
    }
    return orjson.dumps({"data": {name: data[name] for name in _FIELDS if name in ask.fields}})


def balance(project: Project) -> Reply:
    """`GET /2/usage/credits`, by OpenAPI 2.167 as of 2026-08-24: US dollars.

    An empty 404 where no credits are set, as X answered in September 2026.
    """
    left = project.terms.credits_micro
    if left is None:
        return Reply(404, b"")
    data = {
        "free_balance": 0,
        "free_grants": [],
        "prepaid_balance": left / 1e6,
        "total_balance": max(0, left) / 1e6,
    }
    return Reply(200, orjson.dumps({"data": data}))


def numeric_id(name: str) -> int:
    """A numeric id, such as X uses, for a project or an app."""
    return 10_000_000 + zlib.crc32(name.encode()) % 10_000_000


def _app_usage(
    app: str,
    by_app: dict[int, Counter[str]],
    days: Iterable[int],
    number: Callable[[int], int | str],
) -> dict[str, Any]:
    usage = _usage(((n, by_app[n][app]) for n in days if n in by_app and app in by_app[n]), number)
    return {
        "client_app_id": str(numeric_id(app)),
        "usage": usage,
        "usage_result_count": len(usage),
    }


def _usage(
    days: Iterable[tuple[int, int]], number: Callable[[int], int | str]
) -> list[dict[str, int | str]]:
    return [
        {"date": f"{day_name(n)}T00:00:00.000Z", "usage": number(max(0, posts))}
        for n, posts in days
    ]
