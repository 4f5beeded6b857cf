"""What a page costs: a request in a window, and tweet-days for the posts that it may show.

balances ─> a credential selected ─> tweet-days reserved ─> PageGrant ─ the page ─> settled
X bills each post that it shows, even those that the source leaves out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.db.models.functions import Now

from trackers.credentials import selection, sentences
from trackers.credentials.models import Credential
from trackers.ingest.polls.priority import left_to_others
from trackers.ingest.polls.state import kind_of
from trackers.ingest.sources.models import Source
from trackers.money import ledger
from trackers.money.balances import Balance, read_balances
from trackers.money.ledger import Payment
from trackers.xapi.errors import XError
from trackers.xapi.keys import V2
from trackers.xapi.page import FEWEST, MAX_PAGE_SIZE, Page
from trackers.xapi.timelines import ENDPOINTS
from tweetwatch.database import array, cursor

# How long to ask nothing when no credential can be used; a person has to act.
_NO_CREDENTIAL_WAIT = timedelta(seconds=15)
_A_MOMENT = timedelta(seconds=1)
# Left-out posts matter only because the next polls may read them again.
_LEFT_OUT_KEPT = 2_000


@dataclass(frozen=True, slots=True)
class PageGrant:
    """A request that may be sent, for at most `payment.posts` posts."""

    selected: selection.Selection
    payment: Payment


@dataclass(frozen=True, slots=True)
class Wait:
    until: datetime  # nothing may be asked before
    because: str
    is_out_of_reach: bool = False  # as of `NoCredential`


def reserve_page(
    source: Source, *, age: timedelta, now: datetime, timeout: timedelta
) -> PageGrant | Wait:
    """A request and the money for its page. `age`: of its posts; younger ones take precedence."""
    usable = [balance for balance in read_balances() if balance.usable]
    # A project whose credentials X refuses pays only when their next try is due.
    usable = [balance for balance in usable if balance.trusted] or usable
    kind = kind_of(source)
    paying = [balance for balance in usable if _money_left(balance, age) >= FEWEST[kind]]
    if usable and not paying:
        return until_tomorrow(usable, now=now)
    shut = []
    if owner := _tokens_of_owner(source, paying):
        # Cheaper for the same posts, so it goes first.
        selected = selection.select_credential(ENDPOINTS[kind], only=owner.pk)
        if isinstance(selected, selection.Selection):
            [balance] = [one for one in paying if one.project == selected.project]
            return _reserve_money(
                source, selected, balance, age=age, now=now, timeout=timeout, is_owned=True
            )
    for balance in sorted(paying, key=lambda balance: _money_left(balance, age), reverse=True):
        selected = selection.select_credential(ENDPOINTS[kind], project=balance.project)
        if isinstance(selected, selection.Selection):
            return _reserve_money(source, selected, balance, age=age, now=now, timeout=timeout)
        shut.append(selected)
    return first_room(shut or [_nobody(source)], now=now)


def _money_left(balance: Balance, age: timedelta) -> float:
    return (
        float("inf")
        if balance.left is None
        else balance.left - balance.reserved_for_younger_than(age)
    )


def until_tomorrow(balances: Sequence[Balance], *, now: datetime) -> Wait:
    first = min(now + (balance.next_day() - balance.now) for balance in balances)
    return Wait(
        first, sentences.spent([balance.name for balance in balances], again=first, now=now)
    )


def _reserve_money(
    source: Source,
    selected: selection.Selection,
    balance: Balance,
    *,
    age: timedelta,
    now: datetime,
    timeout: timedelta,
    is_owned: bool = False,
) -> PageGrant | Wait:
    """The selected credential with its money, unless others come first."""
    if until := left_to_others(source, selected):
        selection.cancel(selected)
        return Wait(
            until,
            "X's rate limit is nearly used up; what is left is for sources of higher priority.",
        )
    unpaid = [balance.reserved_for_younger_than(age)] * MAX_PAGE_SIZE
    payment = ledger.reserve_posts(
        balance,
        unpaid=unpaid,
        paid=0,
        timeout=timeout,
        clock=selected.clock,
        is_owned=is_owned,
    )
    if payment is not None and payment.posts >= FEWEST[kind_of(source)]:
        return PageGrant(selected, payment)
    if payment is not None:
        ledger.cancel(payment)
    selection.cancel(selected)
    return Wait(
        now + _A_MOMENT,
        "Other workers spent the last of today's budget, or the day has just ended.",
    )


def _tokens_of_owner(source: Source, paying: Sequence[Balance]) -> Credential | None:
    """A user's tokens, if the source is of that user's account, which owns their app at X.

    X bills the posts and the mentions of such an account as owned reads then.
    """
    if kind_of(source) not in ("account", "mentions") or source.account_id is None:
        return None
    has_tokens = Q(refreshing_until=None) | Q(refreshing_until__lte=Now())
    owners = Credential.objects.enabled().defer("secrets").filter(has_tokens, api=V2)
    projects = [balance.project for balance in paying]
    return owners.filter(app_owner=source.account_id, app__project__in=projects).first()


def _nobody(source: Source) -> selection.NoRoom | selection.NoCredential:
    """Why no project can ask at all, and what a person has to do."""
    selected = selection.select_credential(ENDPOINTS[kind_of(source)])
    if isinstance(selected, selection.Selection):
        selection.cancel(selected)
        return selection.NoCredential("A credential was enabled just now.")
    return selected


def first_room(shut: Sequence[selection.NoRoom | selection.NoCredential], *, now: datetime) -> Wait:
    """Wait until the first window opens; or, if none will, until a person acts."""
    rooms = [one for one in shut if isinstance(one, selection.NoRoom)]
    if rooms:
        first = min(rooms, key=lambda one: one.until)
        return Wait(max(first.until, now), first.why)
    nobody = [one for one in shut if isinstance(one, selection.NoCredential)]
    cause = max(nobody, key=lambda one: one.is_out_of_reach)
    return Wait(now + _NO_CREDENTIAL_WAIT, cause.why, cause.is_out_of_reach)


# A tweet's newest version is what is paid for; X bills it under its own id.
# ANY(ARRAY): uses the primary key whatever the statistics say.
PAID = """
    SELECT coalesce(newest, id) FROM trackers_tweet
    WHERE id = ANY(%(ids)s::bigint[] || ARRAY(
            SELECT tweet_id FROM trackers_tweetversion WHERE id = ANY(%(ids)s::bigint[])))
      AND paid_on = %(day)s AND paid_by = %(project)s
"""


def billed(asked: PageGrant, page: Page, source: Source) -> int:
    """How many posts of the page X bills: those that the project has not paid for today.

    Call it before storing the page, which marks them as paid.
    """
    payment = asked.payment
    params = {"ids": array(page.ids), "day": payment.day, "project": payment.project}
    with cursor() as db:
        paid = {row[0] for row in db.execute(PAID, params)}
    return len(set(page.ids) - paid - _left_out_of(source, payment)) + page.unreadable


def settle_page(asked: PageGrant, page: Page, *, posts: int) -> None:
    """X answered, and billed this many posts."""
    selection.settle_answered(asked.selected, page.window)
    ledger.settle_payment(
        asked.payment,
        posts=posts,
        all_posts=len(page.ids) + page.unreadable,
        x_now=page.window.seen_at if page.window else None,
    )


def settle_failed(asked: PageGrant, error: XError) -> None:
    """Which posts were billed is unknown, so all that were reserved count as billed."""
    selection.settle_failed(asked.selected, error)
    if error.sent and error.maybe_billed:
        ledger.count_as_billed(asked.payment)
    else:
        ledger.cancel(asked.payment)


def _left_out_of(source: Source, payment: Payment) -> frozenset[int]:
    """Posts without a row of their own that the payment's project has paid for on its day."""
    left_out = source.left_out
    if (left_out.get("day"), left_out.get("project")) != (payment.day.isoformat(), payment.project):
        return frozenset()
    return frozenset(left_out["ids"])


def leave_out(source: Source, ids: Collection[int], payment: Payment) -> None:
    """Remember that these are paid; only the newest are kept."""
    if ids:
        known = sorted(_left_out_of(source, payment).union(ids), reverse=True)[:_LEFT_OUT_KEPT]
        source.left_out = {
            "day": payment.day.isoformat(),
            "project": payment.project,
            "ids": known,
        }
