"""The panel of money: a block per project, with what it spent, what is left, and what X says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.utils.safestring import SafeString
from django.utils.text import slugify

from trackers.credentials import sentences
from trackers.dashboards.figures import figure_html
from trackers.dashboards.words import Moment, ago, ahead, commas, dollars, lasting, signed
from trackers.forecasts.stored import ProjectForecast
from trackers.money.models import Project
from trackers.money.summary import ESTIMATED_WITHIN, MoneySummary
from trackers.status import Status
from tweetwatch.amounts import amount
from tweetwatch.clock_times import clock_time

# From this share of a budget on, its meter stops being green.
_NEARLY_SPENT = Decimal("0.9")
_NO_KEYS = "It pays for nothing now: none of its credentials is enabled."
_DEPLETED = "It pays for nothing while it is depleted."
_BUDGETS = {
    "posts_a_day": "the daily budget of tweet-days",
    "posts_a_month": "the monthly budget of tweet-days",
    "share_of_posts": "today's share of the monthly budget of tweet-days",
    "money_a_day": "the daily budget in dollars",
    "money_a_month": "the monthly budget in dollars",
    "share_of_money": "today's share of the monthly budget in dollars",
}


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of a budget is spent."""

    figure: str  # its name in the markup
    label: str
    spent: str  # exact, as <meter> needs it
    spent_words: str
    limit: str = ""  # exact as well; empty without a budget
    limit_words: str = ""
    nearly: str = ""
    # What the limit comes from where it is not a budget of its own, and what was paid for.
    note: str = ""
    accounts: str = ""  # how much of today's money was not for posts

    @property
    def html(self) -> SafeString:
        return figure_html(self.figure, self.spent_words, self.spent)


@dataclass(frozen=True, slots=True)
class BilledUsage:
    """What X says it billed this month."""

    read: Moment
    posts: str
    ours: str  # what we counted at that moment
    drift: str  # the difference, and empty where there is nothing to compare
    mood: str
    cap: str
    cap_resets_on: date | None


@dataclass(frozen=True, slots=True)
class ProjectBlock:
    """One project."""

    id: int
    name: str
    has_budget: bool
    depleted: Moment | None
    depleted_reason: str
    depleted_why: str
    meters: tuple[Meter, ...]
    outlook: str  # whether the day's budget will last
    tomorrow: str  # what the forecast says of it; empty: nothing is known
    binds: str
    mood: str  # as in a card
    billed: BilledUsage | None
    usage_problem: str
    credits_left: str  # by X; empty where it does not say
    credits_read: Moment | None


def project_blocks(status: Status) -> list[ProjectBlock]:
    """Of every project, with its forecast."""
    forecasts = {forecast.name: forecast for forecast in status.days_of_projects}
    return [
        _project_block(summary, forecasts.get(summary.project.name), now=status.now)
        for summary in status.projects
    ]


def _project_block(
    summary: MoneySummary, forecast: ProjectForecast | None, *, now: datetime
) -> ProjectBlock:
    project = summary.project
    outlook, mood = _budget_outlook(summary, now=now)
    until = project.depleted_until
    return ProjectBlock(
        id=project.pk,
        name=project.name,
        has_budget=project.has_budget,
        depleted=ahead(until, now=now) if until and project.is_depleted(now=now) else None,
        depleted_reason=project.depleted_reason,
        depleted_why=sentences.depleted(project.name, project.depleted_reason),
        meters=_meters(summary),
        outlook=outlook,
        tomorrow=_tomorrow(forecast),
        binds=_tightest_limit(summary),
        mood=mood,
        billed=_billed_usage(project, now=now),
        usage_problem=project.usage_problem,
        credits_left="" if project.credits_left is None else dollars(project.credits_left),
        credits_read=ago(project.credits_read_at, now=now) if project.credits_read_at else None,
    )


def _meters(summary: MoneySummary) -> tuple[Meter, ...]:
    """Today's and this month's. A day without its own budget has what the others leave over."""
    project, spent, left = summary.project, summary.spent, summary.left
    posts_rest = None if left is None else Decimal(spent.posts_today + left)
    money_rest = None if left is None else spent.money_today + project.cost_of_posts(left)
    return (
        _meter(project, "Tweet-days today", spent.posts_today, project.posts_a_day, _whole_number,
              rest=posts_rest, of=_rest_of(project, project.posts_a_month)),
        _meter(project, "Money today", spent.money_today, project.money_a_day, dollars,
              rest=money_rest, of=_rest_of(project, project.money_a_month),
              paid=_paid(project, spent.money_today, spent.posts_today, spent.users_today,
                         owned=spent.owned_today,
                         counts=(spent.counts_today, spent.archive_counts_today)),
              accounts=_for_accounts(project, spent.users_today)),
        _meter(project, "Tweet-days this month", spent.posts_month, project.posts_a_month,
              _whole_number),
        _meter(project, "Money this month", spent.money_month, project.money_a_month, dollars,
              paid=_paid(project, spent.money_month, spent.posts_month, spent.users_month,
                         owned=spent.owned_month,
                         counts=(spent.counts_month, spent.archive_counts_month))),
    )  # fmt: skip


def _rest_of(project: Project, month: int | Decimal | None) -> str:
    """Where the limit of a day without a budget of its own comes from; `month`: its own month's."""
    limits = (
        *(project.posts_a_day, project.posts_a_month),
        *(project.money_a_day, project.money_a_month),
    )
    others = sum(limit is not None for limit in limits) - (month is not None)
    if month is None:
        return f"the limit follows from the other budget{'' if others == 1 else 's'}"
    return (
        "the limit is today's share of the month"
        if not others
        else "the limit is the least that the budgets allow"
    )


def _accounts(users: int) -> str:
    return amount(users, "account")


def _paid(
    project: Project,
    money: Decimal,
    posts: int,
    users: int,
    *,
    owned: int,
    counts: tuple[int, int],
) -> str:
    """What the money was for: posts, accounts and counts times their prices, to be checked.

    `counts`: of searches, of the last week and of X's full archive.
    """
    of_posts = project.cost_of_posts(posts, owned=owned)
    of_users = users * project.price_of_a_user
    of_searches = [
        (amount(many, f"count of {what}", f"counts of {what}"), many, price)
        for what, many, price in (
            ("a search", counts[0], project.price_of_a_count),
            ("X's full archive", counts[1], project.price_of_an_archive_count),
        )
        if many
    ]
    if not posts and not users and not of_searches:
        return ""
    if money != of_posts + of_users + sum(many * price for _, many, price in of_searches):
        # The price was changed meanwhile.
        things = [amount(posts, "post"), _accounts(users), *(what for what, _, _ in of_searches)]
        return f"for {', '.join(things[:-1])} and {things[-1]}, some at another price"
    and_owned = (
        f" + {commas(owned)} of our own × {_exact_price(project.price_of_an_owned_post)}"
        if owned
        else ""
    )
    and_counts = "".join(
        f", {what} × {_exact_price(price)} = {dollars(many * price)}"
        for what, many, price in of_searches
    )
    return (
        f"{amount(posts - owned, 'post')} × {_exact_price(project.price_of_a_post)}{and_owned} = "
        f"{dollars(of_posts)}, "
        f"{_accounts(users)} × {_exact_price(project.price_of_a_user)} = {dollars(of_users)}"
        f"{and_counts}"
    )


def _for_accounts(project: Project, users: int) -> str:
    """Why money was spent that the tweet-days do not explain; empty if none was."""
    if not users:
        return ""
    return f"of which {dollars(users * project.price_of_a_user)} for {_accounts(users)}"


def _exact_price(price: Decimal) -> str:
    """A price in full: $0.005, where dollars would round it to $0.01 or to $0.00."""
    return f"${_exact_decimal(price)}"


def _meter(
    project: Project,
    label: str,
    spent: int | Decimal,
    budget: int | Decimal | None,
    words: Callable[[Decimal], str],
    *,
    rest: Decimal | None = None,
    of: str = "",
    paid: str = "",
    accounts: str = "",
) -> Meter:
    """`rest`: the limit where there is no budget, and what it is `of`. `paid`: what for."""
    limit = rest if budget is None else Decimal(budget)
    spent = Decimal(spent)
    figure = f"project.{project.pk}.{slugify(label)}"
    if limit is None:
        return Meter(
            figure, label, _exact_decimal(spent), words(spent), note=paid, accounts=accounts
        )
    return Meter(
        figure,
        label,
        _exact_decimal(spent),
        words(spent),
        limit=_exact_decimal(limit),
        limit_words=words(limit),
        nearly=_exact_decimal(limit * _NEARLY_SPENT),
        note="; ".join(filter(None, (of if budget is None else "", paid))),
        accounts=accounts,
    )


def _whole_number(number: Decimal) -> str:
    return commas(int(number))


def _exact_decimal(number: Decimal) -> str:
    """Exactly, without an exponent and without zeros at the end: 12.345, 40, 0."""
    digits = f"{number:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _budget_outlook(summary: MoneySummary, *, now: datetime) -> tuple[str, str]:
    """A sentence on whether the rest lasts until X's next day, and its mood."""
    project, left = summary.project, summary.left
    if not summary.can_pay:
        rest = "" if left is None else f" {commas(left)} tweet-days are left today."
        return f"{_DEPLETED if project.is_depleted(now=now) else _NO_KEYS}{rest}", ""
    if left is None:
        return "No budget limits what is spent.", ""
    at = project.rationed_at
    if (
        at is None
        or project.needs is None
        or (not summary.is_estimated(now=now) and now - at <= ESTIMATED_WITHIN)
    ):
        # Or only for the day before, in the first minute of this one.
        return (
            f"{commas(left)} tweet-days are left today; what the day needs is not known yet.",
            "",
        )
    if not summary.is_estimated(now=now):
        since = f"was last estimated {lasting(now - at)} ago"
        return f"{commas(left)} tweet-days are left today; what the day needs {since}.", "warn"
    needs = project.needs or 0
    if not summary.waiting:
        more = f"about {commas(needs)}" if needs else "no"
        return f"Enough for today: {more} more tweet-days are needed, {commas(left)} are left.", ""
    wait = amount(summary.waiting, "tweet waits", "tweets wait")
    waits = f"about {wait} until 00:00 UTC, the oldest first"
    dry = summary.runs_dry_at
    if dry is None or summary.is_dry(now=now):
        rest = f"{commas(left)} tweet-days are left, about {commas(needs)} are needed"
        return (
            f"Ran dry: {waits}." if left == 0 else f"Not enough for today: {rest}; {waits}.",
            "warn",
        )
    return f"Runs dry at {clock_time(dry, now=now, seconds=False)}: {waits}.", "warn"


def _tomorrow(forecast: ProjectForecast | None) -> str:
    if forecast is None or forecast.tomorrow is None or forecast.spends_tomorrow is None:
        return ""
    posts, all_posts = round(forecast.tomorrow), round(forecast.unlimited_tomorrow or 0)
    more = f"; without budgets it would be {commas(all_posts)}" if all_posts > posts else ""
    return (
        f"Tomorrow {dollars(forecast.spends_tomorrow)} for {commas(posts)} tweet-days, by the "
        f"forecast{more}."
    )


def _tightest_limit(summary: MoneySummary) -> str:
    """Which of the budgets is used up first today; empty where there is at most one."""
    if summary.binding is None:
        return ""
    left = commas(max(0, summary.left or 0))
    return f"The tightest limit is {_BUDGETS[summary.binding]}. It leaves {left} tweet-days today."


def _billed_usage(project: Project, *, now: datetime) -> BilledUsage | None:
    if project.usage_read_at is None:
        return None
    drift = project.drift
    return BilledUsage(
        read=ago(project.usage_read_at, now=now),
        posts="" if project.usage_of_month is None else commas(project.usage_of_month),
        ours="" if project.ours_of_month is None else commas(project.ours_of_month),
        drift="" if drift is None else signed(drift) or "0",
        mood="warn" if drift else "",
        cap="" if project.cap is None else commas(project.cap),
        cap_resets_on=project.cap_resets_on,
    )
