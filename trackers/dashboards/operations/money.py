"""The panel of money: a block per project, with what it spent, what is left, and what X says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from trackers.dashboards.words import Moment, ago, ahead, counted, dollars, lasting, signed
from trackers.money.books import Books
from trackers.money.projects import Project
from tweetwatch.clock_times import clock_time

# The forecast is computed every minute; an older one is not shown as if it were current.
RECKONED_WITHIN = timedelta(minutes=5)
# From this share of a budget on, its meter stops being green.
NEARLY = Decimal("0.9")


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of a budget is spent. `spent` and `limit` are exact, as <meter> needs them.

    `limit` is empty without a budget; `by_others`: the limit is what other budgets leave over.
    """

    label: str
    spent: str
    spent_words: str
    limit: str = ""
    limit_words: str = ""
    nearly: str = ""
    by_others: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What X says it billed this month; `drift` is empty if there is nothing to compare."""

    read: Moment
    posts: str
    drift: str
    mood: str
    cap: str
    cap_reset_day: int | None


@dataclass(frozen=True, slots=True)
class Block:
    """One project. `outlook` says whether the day's budget will last; `mood` as in a card."""

    id: int
    name: str
    has_budget: bool
    stopped: Moment | None
    stopped_because: str
    meters: tuple[Meter, ...]
    outlook: str
    mood: str
    told: Told | None
    usage_problem: str


def block(books: Books, *, now: datetime) -> Block:
    project = books.project
    outlook, mood = outlook_of(books, now=now)
    until = project.stopped_until
    return Block(
        id=project.pk,
        name=project.name,
        has_budget=project.has_budget,
        stopped=ahead(until, now=now) if until and project.stopped(now=now) else None,
        stopped_because=project.stopped_because,
        meters=meters(books),
        outlook=outlook,
        mood=mood,
        told=told(project, now=now),
        usage_problem=project.usage_problem,
    )


def meters(books: Books) -> tuple[Meter, ...]:
    """Today's and this month's. A day without its own budget has what the others leave over."""
    project, spent, left = books.project, books.spent, books.left
    posts_rest = None if left is None else Decimal(spent.posts_today + left)
    money_rest = None if left is None else spent.money_today + left * project.price_of_a_post
    return (
        meter("Tweet-days today", spent.posts_today, project.posts_a_day, posts, posts_rest),
        meter("Money today", spent.money_today, project.money_a_day, dollars, money_rest),
        meter("Tweet-days this month", spent.posts_month, project.posts_a_month, posts),
        meter("Money this month", spent.money_month, project.money_a_month, dollars),
    )


def meter(
    label: str,
    spent: int | Decimal,
    budget: int | Decimal | None,
    words: Callable[[Decimal], str],
    rest: Decimal | None = None,
) -> Meter:
    limit = rest if budget is None else Decimal(budget)
    spent = Decimal(spent)
    if limit is None:
        return Meter(label, plain(spent), words(spent))
    return Meter(
        label,
        plain(spent),
        words(spent),
        limit=plain(limit),
        limit_words=words(limit),
        nearly=plain(limit * NEARLY),
        by_others=budget is None,
    )


def posts(number: Decimal) -> str:
    return counted(int(number))


def plain(number: Decimal) -> str:
    """Exactly, without an exponent and without zeros at the end: 12.345, 40, 0."""
    digits = f"{number:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def outlook_of(books: Books, *, now: datetime) -> tuple[str, str]:
    """A sentence on whether the rest lasts until X's next day, and its mood."""
    project, left = books.project, books.left
    if left is None:
        return "Nothing limits what is spent.", ""
    at = project.rationed_at
    if at is None or project.needs is None:
        return (
            f"{counted(left)} tweet-days are left today; what the day needs is not known yet.",
            "",
        )
    if now - at > RECKONED_WITHIN:
        since = f"was last reckoned {lasting(now - at)} ago"
        return f"{counted(left)} tweet-days are left today; what the day needs {since}.", "warn"
    if not project.waiting:
        return (
            f"Enough for today: about {counted(project.needs)} more tweet-days are needed, "
            f"{counted(left)} are left.",
            "",
        )
    waits = f"about {counted(project.waiting)} tweets wait until 00:00 UTC, the oldest first"
    dry = project.runs_dry_at
    if left == 0 or dry is None or dry <= now:
        return f"Ran dry: {waits}." if left == 0 else f"Not enough for today: {waits}.", "warn"
    return f"Runs dry at {clock_time(dry, now=now, seconds=False)}: {waits}.", "warn"


def told(project: Project, *, now: datetime) -> Told | None:
    if project.usage_read_at is None:
        return None
    drift = project.drift
    return Told(
        read=ago(project.usage_read_at, now=now),
        posts="" if project.usage_of_month is None else counted(project.usage_of_month),
        drift="" if drift is None else signed(drift) or "0",
        mood="warn" if drift else "",
        cap="" if project.cap is None else counted(project.cap),
        cap_reset_day=project.cap_reset_day,
    )
