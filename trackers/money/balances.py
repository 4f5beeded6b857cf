"""What each project may still spend today, by X's clock, and how much of it older
tweets leave to younger ones.

projects, their spending and windows ─> balances ─> ledger (reserve, settle)
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from trackers.xapi.endpoints import LOOKUP_BY_IDS
from tweetwatch.database import fetch_together
from tweetwatch.statements import fill, statement

# How far X's clock may be from our estimate of it: its Date is truncated to seconds.
CLOCKS = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Balance:
    """What a project may still spend on X's day `day`."""

    project: int
    name: str
    now: datetime  # X's clock when this was read
    left: int | None  # tweet-days; None: no limit
    # How many of them a tweet leaves to younger ones, as (younger than, tweet-days) by increasing
    # age; empty when there is enough.
    reserved_for_younger: tuple[tuple[timedelta, int], ...] = ()
    rationed_on: date | None = None  # the day for which that was computed
    usable: bool = True  # it has an enabled credential, and X did not say that its money is used up
    trusted: bool = True  # X refused not all of its credentials, or one may be tried again
    requests: int = 1  # how many look-ups of tweets its windows have left, as far as known
    rationing_requested_at: datetime | None = None  # since when a batch waits for a new day's
    is_provisional: bool = False  # `reserved_for_younger` is a substitute until then
    ahead: timedelta = timedelta(0)  # of X's clock, compared with the database's

    @property
    def day(self) -> date:
        return self.now.astimezone(UTC).date()

    @property
    def is_rationed(self) -> bool:
        return self.left is None or self.rationed_on == self.day

    @property
    def midnight(self) -> datetime:
        """When X's next day begins, by X's clock."""
        return datetime.combine(self.day + timedelta(days=1), datetime.min.time(), UTC)

    def next_day(self) -> datetime:
        """When X's next day has certainly begun, by X's clock as we know it."""
        return self.midnight + CLOCKS

    def reserved_for_younger_than(self, age: timedelta) -> int:
        """How many tweet-days a tweet of this age leaves to younger ones."""
        for younger_than, reserved in self.reserved_for_younger:
            if age < younger_than:
                return reserved
        return self.reserved_for_younger[-1][1] if self.reserved_for_younger else 0


# Parts of statements, here and in the ledger, for a project `p` and what it spent, `s`.
# X's clock now: ours, plus the difference that the project's newest reply showed.
_X_NOW = """(statement_timestamp() + coalesce((
        SELECT w.seen_at - w.learned_at
        FROM trackers_window w JOIN trackers_app a ON a.id = w.app_id
        WHERE a.project_id = p.id AND w.learned_at IS NOT NULL
        ORDER BY w.learned_at DESC LIMIT 1), interval '0'))"""
SPENT = statement(__file__, "_spent", open=["day"])
# Without a daily budget, the rest of the month's budget is spread over its days.
_SPREAD = "p.posts_a_day IS NULL AND p.money_a_day IS NULL"
MONEY_LEFT = f"""least(
        p.money_a_day - s.day_money,
        p.money_a_month - s.month_money,
        CASE WHEN {_SPREAD} THEN (p.money_a_month - s.month_money + s.day_money) / s.days_left
                                - s.day_money END)"""
# least() ignores nulls, so null means no limit.
POSTS_LEFT = f"""least(
        p.posts_a_day - s.day_posts,
        p.posts_a_month - s.month_posts,
        CASE WHEN {_SPREAD} THEN ceil((p.posts_a_month - s.month_posts + s.day_posts)
                                     / s.days_left) - s.day_posts END,
        floor({MONEY_LEFT} / nullif(p.price_of_a_post, 0)))"""

# Of a post, in US dollars: X bills the posts and mentions of the account that owns the app as
# "Owned Reads", if they are read with that account's own tokens (x-api/getting-started/pricing,
# 2026-08-22).
PRICE = "CASE WHEN %(is_owned)s THEN p.price_of_an_owned_post ELSE p.price_of_a_post END"

# For a window that X has not (or no longer) reported: one request goes out to learn its state.
_UNKNOWN = 1
READ_BALANCES = statement(
    __file__,
    "balances",
    posts_left=POSTS_LEFT,
    unknown=_UNKNOWN,
    x_now=_X_NOW,
    spent=fill(SPENT, {"day": "(p.x_now AT TIME ZONE 'UTC')::date"}),
)
OF_TWEETS = {"endpoints": [*LOOKUP_BY_IDS.values()]}


def read_balances() -> list[Balance]:
    """What each project may still spend today."""
    [rows] = fetch_together((READ_BALANCES, OF_TWEETS))
    return parse_balances(rows)


def parse_balances(rows: Iterable[tuple[Any, ...]]) -> list[Balance]:
    """The balances in the rows of READ_BALANCES."""
    return [
        Balance(
            project=project,
            name=name,
            now=now,
            left=None if left is None else max(0, int(left)),
            reserved_for_younger=tuple(
                (timedelta(seconds=age), posts) for age, posts in json.loads(reserved)
            ),
            rationed_on=rationed_on,
            usable=usable,
            trusted=trusted,
            requests=requests,
            ahead=ahead,
            rationing_requested_at=requested_at,
        )
        for (
            project,
            name,
            now,
            left,
            reserved,
            rationed_on,
            usable,
            trusted,
            requests,
            ahead,
            requested_at,
        ) in rows
    ]
