"""The ledger of tweet-days: new tweets of the day are reserved before the request, then settled.

balances (what may be spent) ─> reserve ─> the request ─> settle

X bills a post once per UTC day and project, and nothing for failures or posts not found. The day is
by X's clock. Whatever happens, we count at least what X bills: what a crash leaves reserved stays
spent, and what X may have billed on either side of midnight counts on both days.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from django.db import transaction

from trackers.money.balances import CLOCKS, MONEY_LEFT, POSTS_LEFT, PRICE, SPENT, Balance
from tweetwatch.database import DatabaseClock, array, cursor, fetch_together
from tweetwatch.statements import fill, statement


@dataclass(frozen=True, slots=True)
class Payment:
    """Tweet-days reserved for requests."""

    project: int
    day: date
    posts: int
    # When the reply must have come, by time.monotonic(). After that, X may bill a day for which
    # nothing is reserved, so a request that may last longer must not be sent.
    reply_by: float
    tomorrow: int = 0  # those that may be billed on the next day
    is_owned: bool = False  # X bills less for them; they are reserved at the price of others

    def parts(self, sizes: Sequence[tuple[int, int]]) -> Sequence[Payment]:
        """A payment for each request, of (its tweets that are new today, all its tweets).

        Together they add up to this payment, so that what each leaves unsettled stays reserved.
        """
        new, all_of_them = sum(new for new, _ in sizes), sum(every for _, every in sizes)
        if new != self.posts or self.tomorrow not in (0, all_of_them):
            raise ValueError(
                f"{self.posts} and {self.tomorrow} tweet-days are reserved, and the requests are"
                f" for {new} and {all_of_them}."
            )
        return [
            replace(self, posts=new, tomorrow=every if self.tomorrow else 0) for new, every in sizes
        ]


@dataclass(frozen=True, slots=True)
class Settlement:
    """What X billed of a payment; by default, nothing."""

    payment: Payment
    posts: int = 0  # of the new ones, if it billed on that day
    all_posts: int = 0  # whether new or not, if it billed on the next
    x_now: datetime | None = None  # X's clock in the answer; None when X gave no time

    def by_day(self) -> Iterator[tuple[date, int, int]]:
        """For each day, how many posts were reserved, and how many to count.

        After midnight X may have billed them on either day, even if this was not expected and
        nothing was reserved for it.
        """
        today, tomorrow = self.payment.day, self.payment.day + timedelta(days=1)
        told = self.x_now.astimezone(UTC).date() if self.x_now else None
        may_be_over = told > today if told else self.payment.tomorrow > 0
        yield today, self.payment.posts, self.posts
        yield tomorrow, self.payment.tomorrow, self.all_posts if may_be_over else 0


# Reservations of a project are serialised, or two could use the same room: the second sees what the
# first wrote, since its statement begins only once it has this lock.
# NO KEY: a new row of spending needs a KEY SHARE lock on its project.
_LOCK_PROJECT = """
    SELECT FROM trackers_project WHERE id = %(project)s FOR NO KEY UPDATE
"""
_SPENT_THAT_DAY = fill(SPENT, {"day": "%(day)s::date"})
_RESERVE_POSTS = statement(__file__, "reserve_posts", posts_left=POSTS_LEFT, spent=_SPENT_THAT_DAY)
# All or nothing. Accounts and counts cost money, but no tweet-days. They are few, so this is always
# flushed.
_RESERVE_OTHERS = f"""
    INSERT INTO trackers_spending (project_id, day, posts, users, posts_reserved, users_reserved,
                                   counts_reserved, archive_counts_reserved, money)
    SELECT p.id, %(day)s, 0, 0, 0, %(users)s, %(counts)s, %(archive_counts)s, 0
    FROM trackers_project p CROSS JOIN LATERAL ({_SPENT_THAT_DAY}) s
    WHERE p.id = %(project)s
      AND coalesce({MONEY_LEFT}, 'Infinity') >=
          %(users)s * p.price_of_a_user + %(counts)s * p.price_of_a_count
              + %(archive_counts)s * p.price_of_an_archive_count
    ON CONFLICT (project_id, day) DO UPDATE
    SET users_reserved = trackers_spending.users_reserved + excluded.users_reserved,
        counts_reserved = trackers_spending.counts_reserved + excluded.counts_reserved,
        archive_counts_reserved =
            trackers_spending.archive_counts_reserved + excluded.archive_counts_reserved
    RETURNING set_config('synchronous_commit', 'on', true)
"""

# What X billed, out of what was reserved: never more, so that no concurrent reservation can turn
# out too large.
# A crash of the database, or a failover to a standby, may have lost the reservation, or the whole
# row of the day: what X billed is counted anyway, and the reserved amount never falls below zero.
_COUNT_BILLED = """
    INSERT INTO trackers_spending AS s (project_id, day, posts, owned_posts, users, counts,
                                        archive_counts, posts_reserved, users_reserved, money)
    SELECT p.id, %(day)s, %(posts)s, CASE WHEN %(is_owned)s THEN %(posts)s ELSE 0 END, %(users)s,
           %(counts)s, %(archive_counts)s, 0, 0,
           %(posts)s * {price} + %(users)s * p.price_of_a_user + %(counts)s * p.price_of_a_count
               + %(archive_counts)s * p.price_of_an_archive_count
    FROM {source}
    WHERE p.id = %(project)s
    ON CONFLICT (project_id, day) DO UPDATE
    SET posts = s.posts + excluded.posts, users = s.users + excluded.users,
        owned_posts = s.owned_posts + excluded.owned_posts, counts = s.counts + excluded.counts,
        archive_counts = s.archive_counts + excluded.archive_counts,
        posts_reserved = greatest(0, s.posts_reserved - %(posts_reserved)s),
        users_reserved = greatest(0, s.users_reserved - %(users_reserved)s),
        counts_reserved = greatest(0, s.counts_reserved - %(counts_reserved)s),
        archive_counts_reserved =
            greatest(0, s.archive_counts_reserved - %(archive_counts_reserved)s),
        money = s.money + excluded.money
"""
# If a crash loses it, everything reserved counts as spent.
_SETTLE = _COUNT_BILLED.format(
    price=PRICE,
    source="trackers_project p, "
    "(SELECT set_config('synchronous_commit', 'off', true)) AS unflushed",
)
# Counts what was not reserved, in the transaction of the caller that reports it.
_SPEND = _COUNT_BILLED.format(price=PRICE, source="trackers_project p")


def reserve_posts(
    balance: Balance,
    *,
    unpaid: Sequence[int],
    paid: int,
    timeout: timedelta,
    clock: DatabaseClock,
    is_owned: bool = False,
) -> Payment | None:
    """Reserve what requests that may take `timeout` can cost; None if none may be sent.

    `unpaid`: of each tweet that is new today, youngest first, how much it leaves to younger ones;
    `Payment.posts` of them may be read. `paid`: how many others are requested, which cost nothing
    until midnight.
    `clock`: the present time, as the balance may have been read long ago. If its day has ended
    since, it is unknown which tweets are new, and no request may be sent.
    `is_owned`: X will bill them as owned reads.
    """
    day, left = balance.day, balance.midnight - (clock.now() + balance.ahead)
    if left <= timedelta(0):
        return None
    # Tokens may need renewal first, which is a request too.
    if left > 2 * timeout + CLOCKS:
        posts = _posts_granted(balance.project, day, unpaid) if unpaid else 0
        payment = _payment_of(balance, clock, posts=posts, is_owned=is_owned)
        return payment if posts + paid else None
    with transaction.atomic():
        posts = _posts_granted(balance.project, day, unpaid) if unpaid else 0
        tomorrow = _posts_granted(balance.project, day + timedelta(days=1), [0] * (posts + paid))
        if tomorrow < posts + paid:
            transaction.set_rollback(True)
            return None
    payment = _payment_of(balance, clock, posts=posts, tomorrow=tomorrow, is_owned=is_owned)
    return payment if posts + paid else None


def _payment_of(
    balance: Balance, clock: DatabaseClock, *, posts: int, is_owned: bool, tomorrow: int = 0
) -> Payment:
    """What was reserved, and until when it covers all days on which X may bill."""
    last = balance.midnight + timedelta(days=1 if tomorrow else 0)
    reply_by = clock.monotonic_at(last - balance.ahead - CLOCKS)
    return Payment(balance.project, balance.day, posts, reply_by, tomorrow, is_owned)


def _posts_granted(project: int, day: date, reserved: Sequence[int]) -> int:
    """How many tweets may be read on the day; each leaves that much to younger ones."""
    counts = {posts: reserved.count(posts) for posts in sorted(set(reserved))}
    params = {
        "project": project,
        "day": day,
        "counts": array(counts.values()),
        "reserved": array(counts),
    }
    # In one transaction, ours or the caller's: the lock is held until the reservation is written.
    _, found = fetch_together((_LOCK_PROJECT, params), (_RESERVE_POSTS, params))
    return found[0][0] or 0 if found else 0


def settle_payment(payment: Payment, *, posts: int, all_posts: int, x_now: datetime | None) -> None:
    """X answered: it showed `posts` of the new ones, and `all_posts` in all."""
    settle_all([Settlement(payment, posts=posts, all_posts=all_posts, x_now=x_now)])


def settle_all(settlements: Iterable[Settlement]) -> None:
    """Count what X billed, each by its own reply, in one statement per project, day and price.

    Locks: the rows of spending, by project and day.
    """
    reserved, posts = Counter[tuple[int, date, bool]](), Counter[tuple[int, date, bool]]()
    for settlement in settlements:
        for day, were_reserved, are_billed in settlement.by_day():
            row = settlement.payment.project, day, settlement.payment.is_owned
            reserved[row] += were_reserved
            posts[row] += are_billed
    for row in sorted(reserved):
        project, day, is_owned = row
        _write_spending(
            project, day, posts_reserved=reserved[row], posts=posts[row], is_owned=is_owned
        )


def cancel(payment: Payment) -> None:
    """Nothing was billed: the request was not sent, or X refused it."""
    settle_all([Settlement(payment)])


def count_as_billed(payment: Payment) -> None:
    """It may have been billed, so it counts as billed."""
    settle_all([Settlement(payment, posts=payment.posts, all_posts=payment.tomorrow)])


def reserve_users(balance: Balance, users: int) -> bool:
    """Whether this many accounts may be read; if so, they are reserved."""
    return _reserve_others(balance, users=users)


def reserve_count(balance: Balance, *, of_archive: bool = False) -> bool:
    """Whether X may be asked to count what a search finds; if so, its price is reserved."""
    if of_archive:
        return _reserve_others(balance, archive_counts=1)
    return _reserve_others(balance, counts=1)


def _reserve_others(
    balance: Balance, *, users: int = 0, counts: int = 0, archive_counts: int = 0
) -> bool:
    params = {
        "project": balance.project,
        "day": balance.day,
        "users": users,
        "counts": counts,
        "archive_counts": archive_counts,
    }
    with transaction.atomic(), cursor() as db:
        db.execute(_LOCK_PROJECT, params)
        return db.execute(_RESERVE_OTHERS, params).rowcount > 0


def settle_users(balance: Balance, *, reserved: int, users: int) -> None:
    """X showed `users` of the accounts that were reserved."""
    _write_spending(balance.project, balance.day, users_reserved=reserved, users=users)


def settle_count(balance: Balance, *, is_billed: bool, of_archive: bool = False) -> None:
    """X counted, or may have, or did not."""
    project, day, billed = balance.project, balance.day, int(is_billed)
    if of_archive:
        _write_spending(project, day, archive_counts_reserved=1, archive_counts=billed)
    else:
        _write_spending(project, day, counts_reserved=1, counts=billed)


def _write_spending(
    project: int, day: date, *, by: str = _SETTLE, is_owned: bool = False, **counts: int
) -> None:
    amounts = {
        "posts_reserved": 0,
        "posts": 0,
        "users_reserved": 0,
        "users": 0,
        "counts_reserved": 0,
        "counts": 0,
        "archive_counts_reserved": 0,
        "archive_counts": 0,
        **counts,
    }
    if any(amounts.values()):
        with cursor() as db:
            db.execute(by, {"project": project, "day": day, "is_owned": is_owned, **amounts})


def spend(project: int, day: date, *, posts: int) -> None:
    """Count posts that X sent, and billed, without a request for each: those of a stream."""
    _write_spending(project, day, by=_SPEND, posts=posts)
