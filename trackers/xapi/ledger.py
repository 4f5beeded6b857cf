"""The ledger of tweet-days: what is new today is reserved before it is read, and settled after.

purses (what may be spent) ─> reserve ─> the request ─> settle

X bills a post once per UTC day and project, and nothing that failed or was not found. The day is
that of X's clock. Whatever happens we count at least what X bills: what a crash leaves reserved
stays spent, and what may have been billed on either side of midnight counts on both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import transaction

from trackers.xapi.endpoints import TWEETS
from tweetwatch.database import array, ask, cursor

# How far X's clock may be from what we make of it: its Date has whole seconds, cut.
CLOCKS = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Purse:
    """What a project may still spend on X's day `day`.

    `left`: tweet-days, None without a limit. `floors`: of these, how many a tweet leaves to
    younger ones, as (younger than, tweet-days) by increasing age; none when there is enough.
    `rationed_on`: the day for which the floors were reckoned.
    `usable`: it has an enabled credential, and X did not say that its money is used up.
    `trusted`: X did not refuse all its credentials within the last minute. `requests`: how many
    look-ups of tweets its windows have left, by what is known of them.
    """

    project: int
    name: str
    now: datetime
    left: int | None
    floors: tuple[tuple[timedelta, int], ...] = ()
    rationed_on: date | None = None
    usable: bool = True
    trusted: bool = True
    requests: int = 1

    @property
    def day(self) -> date:
        return self.now.astimezone(UTC).date()

    @property
    def is_rationed(self) -> bool:
        return self.left is None or self.rationed_on == self.day

    def next_day(self) -> datetime:
        """When X's next day begins, by our clock or a little later."""
        return datetime.combine(self.day + timedelta(days=1), datetime.min.time(), UTC) + CLOCKS

    def floor(self, age: timedelta) -> int:
        """How many tweet-days a tweet of this age leaves to younger ones."""
        for younger_than, floor in self.floors:
            if age < younger_than:
                return floor
        return self.floors[-1][1] if self.floors else 0


@dataclass(frozen=True, slots=True)
class Payment:
    """Tweet-days reserved for one request; `tomorrow` those that may be billed on the next day."""

    project: int
    day: date
    posts: int
    tomorrow: int = 0


# Parts of the statements below, over a project `p` and what it spent, `s`.
# X's clock now: ours, and the difference that the newest reply to the project told.
X_NOW = """(statement_timestamp() + coalesce((
        SELECT w.seen_at - w.learned_at
        FROM trackers_window w JOIN trackers_app a ON a.id = w.app_id
        WHERE a.project_id = p.id AND w.learned_at IS NOT NULL
        ORDER BY w.learned_at DESC LIMIT 1), interval '0'))"""
SPENT = """
    SELECT coalesce(sum(one.posts) FILTER (WHERE one.day = {day}), 0) AS day_posts,
           coalesce(sum(one.posts), 0) AS month_posts,
           coalesce(sum(one.money) FILTER (WHERE one.day = {day}), 0) AS day_money,
           coalesce(sum(one.money), 0) AS month_money,
           extract(day FROM date_trunc('month', {day}) + interval '1 month' - {day}) AS days_left
    FROM (
        SELECT day, posts + posts_reserved AS posts,
               money + posts_reserved * p.price_of_a_post
                     + users_reserved * p.price_of_a_user AS money
        FROM trackers_spending
        WHERE project_id = p.id AND day >= date_trunc('month', {day})::date
          AND day < (date_trunc('month', {day}) + interval '1 month')::date
    ) one
"""
# Without a budget for the day, what is left of the month's is spread over its days.
SPREAD = "p.posts_a_day IS NULL AND p.money_a_day IS NULL"
MONEY_LEFT = f"""least(
        p.money_a_day - s.day_money,
        p.money_a_month - s.month_money,
        CASE WHEN {SPREAD} THEN (p.money_a_month - s.month_money + s.day_money) / s.days_left
                                - s.day_money END)"""
# least() passes over nulls: null is no limit.
POSTS_LEFT = f"""least(
        p.posts_a_day - s.day_posts,
        p.posts_a_month - s.month_posts,
        CASE WHEN {SPREAD} THEN ceil((p.posts_a_month - s.month_posts + s.day_posts)
                                     / s.days_left) - s.day_posts END,
        floor({MONEY_LEFT} / nullif(p.price_of_a_post, 0)))"""

# Of a window that X has not told of (any more): it lets one request through, and then X tells.
UNKNOWN = 1
PURSES = f"""
    SELECT p.id, p.name, p.x_now, {POSTS_LEFT}, p.floors,
           (p.rationed_at AT TIME ZONE 'UTC')::date,
           (p.stopped_until IS NULL OR p.stopped_until <= statement_timestamp())
           AND keys.are_there IS NOT NULL,
           coalesce(keys.are_good, false),
           coalesce(windows.requests, {UNKNOWN})
    FROM (SELECT p.*, {X_NOW} AS x_now FROM trackers_project p) p
    CROSS JOIN LATERAL (
        SELECT bool_or(true) AS are_there,
               bool_or(c.refused = 0
                       OR c.used_at <= statement_timestamp() - interval '1 minute') AS are_good
        FROM trackers_credential c JOIN trackers_app a ON a.id = c.app_id
        WHERE a.project_id = p.id AND c.disabled_at IS NULL
    ) keys
    CROSS JOIN LATERAL (
        SELECT sum(CASE WHEN w.resets_at > statement_timestamp() + (w.seen_at - w.learned_at)
                        THEN greatest(0, w.remaining - cardinality(w.under_way)
                                                     - cardinality(w.lost))
                        ELSE {UNKNOWN} END) AS requests
        FROM trackers_window w JOIN trackers_app a ON a.id = w.app_id
        WHERE a.project_id = p.id AND w.endpoint = ANY(%(endpoints)s)
    ) windows
    CROSS JOIN LATERAL ({SPENT.format(day="(p.x_now AT TIME ZONE 'UTC')::date")}) s
    ORDER BY p.id
"""
OF_TWEETS = {"endpoints": [*TWEETS.values()]}

# Reservations of a project come one after the other, or two would each find room for itself: the
# second sees what the first wrote, since its statement begins after this lock is its own.
# NO KEY: a new row of spending needs a KEY SHARE lock on its project.
LOCK = """
    SELECT FROM trackers_project WHERE id = %(project)s FOR NO KEY UPDATE
"""
# `counts` tweets each, youngest first, leave `floors` of what is left to younger ones.
RESERVE_POSTS = f"""
    WITH room AS (
        SELECT {POSTS_LEFT} AS posts
        FROM trackers_project p CROSS JOIN LATERAL ({SPENT.format(day="%(day)s::date")}) s
        WHERE p.id = %(project)s
    ), granted AS (
        SELECT sum(greatest(0, least(asked.count, room.posts - asked.floor - asked.before)))
                   ::int AS posts
        FROM room, (
            SELECT count, floor, sum(count) OVER (ORDER BY place) - count AS before
            FROM unnest(%(counts)s::int[], %(floors)s::int[])
                WITH ORDINALITY AS a(count, floor, place)
        ) asked
    ), written AS (
        INSERT INTO trackers_spending (project_id, day, posts, users, posts_reserved,
                                       users_reserved, money)
        SELECT %(project)s, %(day)s, 0, 0, posts, 0, 0 FROM granted WHERE posts > 0
        ON CONFLICT (project_id, day) DO UPDATE
        SET posts_reserved = trackers_spending.posts_reserved + excluded.posts_reserved
    )
    SELECT posts, set_config('synchronous_commit', 'off', true) FROM granted
"""
# All or nothing. Accounts are paid with money, and are nothing to a budget of tweet-days.
RESERVE_USERS = f"""
    INSERT INTO trackers_spending (project_id, day, posts, users, posts_reserved,
                                   users_reserved, money)
    SELECT p.id, %(day)s, 0, 0, 0, %(users)s, 0
    FROM trackers_project p CROSS JOIN LATERAL ({SPENT.format(day="%(day)s::date")}) s
    WHERE p.id = %(project)s
      AND coalesce({MONEY_LEFT}, 'Infinity') >= %(users)s * p.price_of_a_user
    ON CONFLICT (project_id, day) DO UPDATE
    SET users_reserved = trackers_spending.users_reserved + excluded.users_reserved
"""

# Never more than was reserved, so that no reservation made meanwhile can have been too much.
SETTLE = """
    UPDATE trackers_spending s
    SET posts_reserved = s.posts_reserved - %(posts_reserved)s, posts = s.posts + %(posts)s,
        users_reserved = s.users_reserved - %(users_reserved)s, users = s.users + %(users)s,
        money = s.money + %(posts)s * p.price_of_a_post + %(users)s * p.price_of_a_user
    FROM trackers_project p, (SELECT set_config('synchronous_commit', 'off', true)) AS unflushed
    WHERE p.id = s.project_id AND s.project_id = %(project)s AND s.day = %(day)s
"""


def purses() -> list[Purse]:
    """What each project may still spend today."""
    [rows] = ask((PURSES, OF_TWEETS))
    return read_purses(rows)


def read_purses(rows: Iterable[tuple[Any, ...]]) -> list[Purse]:
    """What the rows of PURSES say."""
    return [
        Purse(
            project=project,
            name=name,
            now=now,
            left=None if left is None else max(0, int(left)),
            floors=tuple((timedelta(seconds=age), floor) for age, floor in json.loads(floors)),
            rationed_on=rationed_on,
            usable=usable,
            trusted=trusted,
            requests=requests,
        )
        for project, name, now, left, floors, rationed_on, usable, trusted, requests in rows
    ]


def reserve(
    purse: Purse, *, unpaid: Sequence[int], paid: int, timeout: timedelta
) -> Payment | None:
    """Reserve what a request that may take `timeout` can cost; None when nothing may be asked.

    `unpaid`: the floor of each tweet that is new today, youngest first; `Payment.posts` of them
    may be read. `paid`: how many others the request asks for, which cost nothing until midnight.
    """
    day = purse.day
    over_midnight = (purse.now + timeout + CLOCKS).astimezone(UTC).date() != day
    if not over_midnight:
        posts = granted(purse.project, day, unpaid) if unpaid else 0
        return Payment(purse.project, day, posts) if posts + paid else None
    with transaction.atomic():
        posts = granted(purse.project, day, unpaid) if unpaid else 0
        tomorrow = granted(purse.project, day + timedelta(days=1), [0] * (posts + paid))
        if tomorrow < posts + paid:
            transaction.set_rollback(True)
            return None
    return Payment(purse.project, day, posts, tomorrow) if posts + paid else None


def granted(project: int, day: date, floors: Sequence[int]) -> int:
    """How many of the tweets with these floors, in ascending order, may be read on the day."""
    counts = {floor: floors.count(floor) for floor in sorted(set(floors))}
    params = {
        "project": project,
        "day": day,
        "counts": array(counts.values()),
        "floors": array(counts),
    }
    # One transaction, whoever began it: the lock is kept until the reservation is written.
    _, found = ask((LOCK, params), (RESERVE_POSTS, params))
    return found[0][0] or 0 if found else 0


def settle(payment: Payment, *, posts: int, shown: int, x_now: datetime | None) -> None:
    """X answered: it showed `posts` of those that were new, and `shown` in all.

    `x_now`: X's clock with the answer; None when it did not tell.
    """
    write(payment.project, payment.day, posts_reserved=payment.posts, posts=posts)
    if payment.tomorrow:
        before_midnight = x_now is not None and x_now.astimezone(UTC).date() == payment.day
        tomorrow = payment.day + timedelta(days=1)
        write(
            payment.project,
            tomorrow,
            posts_reserved=payment.tomorrow,
            posts=0 if before_midnight else shown,
        )


def cancel(payment: Payment) -> None:
    """Nothing was billed: the request was not sent, or X refused it."""
    settle(payment, posts=0, shown=0, x_now=None)


def keep(payment: Payment) -> None:
    """Nobody knows whether it was billed, so it was."""
    settle(payment, posts=payment.posts, shown=payment.tomorrow, x_now=None)


def reserve_users(purse: Purse, users: int) -> bool:
    """Whether so many accounts may be read; they are reserved then."""
    params = {"project": purse.project, "day": purse.day, "users": users}
    with transaction.atomic(), cursor() as db:
        db.execute(LOCK, params)
        return db.execute(RESERVE_USERS, params).rowcount > 0


def settle_users(purse: Purse, *, reserved: int, users: int) -> None:
    """X told of `users` of the accounts that were reserved."""
    write(purse.project, purse.day, users_reserved=reserved, users=users)


def write(project: int, day: date, **counts: int) -> None:
    given = {"posts_reserved": 0, "posts": 0, "users_reserved": 0, "users": 0, **counts}
    if any(given.values()):
        with cursor() as db:
            db.execute(SETTLE, {"project": project, "day": day, **given})


# What nobody reserved: the day may have no row yet.
SPEND = """
    INSERT INTO trackers_spending (project_id, day, posts, users, posts_reserved, users_reserved,
                                   money)
    SELECT id, %(day)s, %(posts)s, 0, 0, 0, %(posts)s * price_of_a_post
    FROM trackers_project WHERE id = %(project)s
    ON CONFLICT (project_id, day) DO UPDATE
    SET posts = trackers_spending.posts + excluded.posts,
        money = trackers_spending.money + excluded.money
"""


def spend(project: int, day: date, *, posts: int) -> None:
    """X sent, and billed, posts that were not asked for one by one: those of a stream."""
    if posts:
        with cursor() as db:
            db.execute(SPEND, {"project": project, "day": day, "posts": posts})
