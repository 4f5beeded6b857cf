"""What reading costs: a project pays for each post or user once per UTC day; failures are free.

ids read ─> those not yet paid for today ─> cap, spend limit, balance ─> Bill, or Short (of what)

A request that costs more than is left is refused as a whole. It is unknown whether X itself would
still serve posts already paid for that day, so this is a setting (`empty_refuses_all`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from fakex.account.terms import LONGEST_LAG_S, Terms

DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
Short = Literal["cap", "credits"]
Counting = Literal["recent", "all"]  # how far back posts were counted
UserRead = tuple[str, int]  # endpoint and user: X does not deduplicate users across endpoints


class Bill(NamedTuple):
    """What one request was charged: posts and users new on that UTC day, and the micro-dollars of
    everything."""

    day: int
    posts: int
    users: int
    micro: int


@dataclass(slots=True)
class Day:
    """One UTC day of a project; some 40 bytes for each post paid for."""

    posts: set[int] = field(default_factory=set)
    users: set[UserRead] = field(default_factory=set)
    lists: set[int] = field(default_factory=set)
    apps: Counter[str] = field(default_factory=Counter)
    others: int = 0
    micro: int = 0
    requests: int = 0
    refused: int = 0

    @property
    def billed(self) -> int:
        return len(self.posts) + self.others

    def to_dict(self) -> dict[str, int]:
        return {
            "posts": self.billed,
            "users": len(self.users),
            "spent_micro": self.micro,
            "requests": self.requests,
            "refused": self.refused,
        }


@dataclass(slots=True)
class Month:
    posts: int = 0
    micro: int = 0


class Charged(NamedTuple):
    """Posts charged at an instant, kept while the usage report may lag behind."""

    at_ms: int
    day: int
    app: str
    posts: int


class Project:
    def __init__(self, name: str, terms: Terms) -> None:
        self.name, self.terms = name, terms
        self.days: dict[int, Day] = {}
        self.months: dict[str, Month] = {}
        self._recent: deque[Charged] = deque()

    def charge(
        self,
        posts: Collection[int],
        users: Collection[UserRead],
        *,
        lists: Collection[int] = (),
        counts: Counting | None = None,
        is_owned: bool = False,
        app: str,
        at_ms: int,
    ) -> Bill | Short:
        number = at_ms // DAY_MS
        day, month = self.day(number), self.month(number)
        # Most posts are already paid for: a fast check that does not build a set.
        all_paid = day.posts.issuperset(posts)
        new_posts = set[int]() if all_paid else set(posts) - day.posts
        new_users, new_lists = set(users) - day.users, set(lists) - day.lists
        terms = self.terms
        price = terms.price_owned_micro if is_owned else terms.price_post_micro
        bill = Bill(
            number,
            len(new_posts),
            len(new_users),
            len(new_posts) * price
            + len(new_users) * terms.price_user_micro
            + len(new_lists) * terms.price_list_micro
            + _price_of(counts, terms),
        )
        if short := self._short(bill, month):
            day.refused += 1
            return short
        day.requests += 1
        if bill.posts or bill.users or bill.micro:
            day.posts |= new_posts
            day.users |= new_users
            day.lists |= new_lists
            self._book(bill.posts, bill.micro, app=app, at_ms=at_ms)
        return bill

    def set_others(self, posts: int, *, at_ms: int) -> None:
        """Set how many posts others have read this UTC day; booked like our own."""
        day = self.day(at_ms // DAY_MS)
        more, day.others = posts - day.others, posts
        self._book(more, more * self.terms.price_post_micro, app="others", at_ms=at_ms)

    def day(self, number: int) -> Day:
        day = self.days.get(number)
        if day is None:
            day = self.days[number] = Day()
        return day

    def month(self, number: int) -> Month:
        """The month that the day is in."""
        name = month_of(number)
        month = self.months.get(name)
        if month is None:
            month = self.months[name] = Month()
        return month

    def late(self, at_ms: int) -> list[Charged]:
        """Charges that the usage report does not show yet."""
        since = at_ms - self.terms.usage_lag_s * 1000
        return [charged for charged in self._recent if charged.at_ms > since]

    def to_dict(self) -> dict[str, Any]:
        days = [day for _, day in sorted(self.days.items())]
        micro = sum(day.micro for day in days)
        return {
            "name": self.name,
            **asdict(self.terms),
            "distinct": len(set[int]().union(*(day.posts for day in days))),
            "posts": sum(day.billed for day in days),
            "users": sum(len(day.users) for day in days),
            "requests": sum(day.requests for day in days),
            "refused": sum(day.refused for day in days),
            "spent_micro": micro,
            "days": {day_name(number): self.days[number].to_dict() for number in sorted(self.days)},
            "months": {name: asdict(month) for name, month in sorted(self.months.items())},
        }

    def _short(self, bill: Bill, month: Month) -> Short | None:
        terms = self.terms
        cap, spend_limit = terms.monthly_cap, terms.spend_limit_micro
        if cap is not None and bill.posts and month.posts + bill.posts > cap:
            return "cap"
        if spend_limit is not None and bill.micro and month.micro + bill.micro > spend_limit:
            return "credits"
        if terms.credits_micro is None:
            return None
        left = max(0, terms.credits_micro)
        is_refused = bill.micro > left or (left == 0 and terms.empty_refuses_all)
        return "credits" if is_refused else None

    def _book(self, posts: int, micro: int, *, app: str, at_ms: int) -> None:
        number = at_ms // DAY_MS
        day, month, recent = self.day(number), self.month(number), self._recent
        day.apps[app] += posts
        day.micro += micro
        month.posts += posts
        month.micro += micro
        if self.terms.credits_micro is not None:
            self.terms.credits_micro -= micro
        recent.append(Charged(at_ms, number, app, posts))
        while recent[0].at_ms < at_ms - LONGEST_LAG_S * 1000:
            recent.popleft()


def _price_of(counts: Counting | None, terms: Terms) -> int:
    if counts is None:
        return 0
    return terms.price_count_micro if counts == "recent" else terms.price_all_count_micro


@lru_cache(maxsize=512)
def day_name(number: int) -> str:
    return date.fromordinal(_EPOCH + number).isoformat()


@lru_cache(maxsize=512)
def month_of(number: int) -> str:
    return day_name(number)[:7]
