"""Which project asks for which tweets of a batch, and which must wait: a pure decision.

A project that paid for a tweet today reads it again for free, so a tweet stays with its project
while that has money and requests for it. Without requests, it only goes to a project that has no
budget, since there it is paid for again. All others go to the project that has most money left. If
none has any, they wait for the next UTC day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import NamedTuple

from trackers.money.balances import Balance
from trackers.tweets.snowflake import born_at
from trackers.updater.before import Group, Prior


@dataclass(frozen=True, slots=True)
class Unpaid:
    """A tweet that is new today, and how many tweet-days it must leave to younger ones."""

    tweet_id: int
    reserved_for_younger: int


@dataclass(slots=True)
class Share:
    """The tweets that one project asks for."""

    balance: Balance
    paid: list[int] = field(default_factory=list)  # cost nothing more today
    unpaid: list[Unpaid] = field(default_factory=list)

    @property
    def ids(self) -> list[int]:
        return [*self.paid, *(unpaid.tweet_id for unpaid in self.unpaid)]

    def only(self, ids: Collection[int]) -> Share:
        return Share(
            self.balance,
            [id for id in self.paid if id in ids],
            [unpaid for unpaid in self.unpaid if unpaid.tweet_id in ids],
        )

    def youngest_first(self) -> list[Unpaid]:
        return sorted(self.unpaid, key=lambda unpaid: unpaid.reserved_for_younger)


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares, largest first, and the tweets for which no project has money today."""

    shares: Sequence[Share]
    waiting: Sequence[int]


def share_out(groups: Iterable[Group], balances: Sequence[Balance], *, now: datetime) -> Shares:
    """Assign each tweet. Without a usable balance there are no shares, and none waits for money."""
    usable = [balance for balance in balances if balance.usable]
    # A balance that X refuses is tried once a minute, or if there is no other.
    usable = [balance for balance in usable if balance.trusted] or usable
    shares = {balance.project: Share(balance) for balance in usable}
    free = [share for share in shares.values() if _is_free(share)]
    if not shares:
        return Shares([], [])
    unpaid: list[tuple[int, Share | None, Prior]] = []
    for prior, ids in groups:
        home = shares.get(prior.paid_by) if prior.paid_by is not None else None
        if home and home.balance.requests < 1 and free:
            home = None
        if home and prior.paid_on == home.balance.day:
            home.paid.extend(ids)
        else:
            unpaid.extend((id, home, prior) for id in ids)
    waiting = []
    # The newest first, so that the oldest wait within a batch too.
    for id, home, prior in sorted(unpaid, key=itemgetter(0), reverse=True):
        # The age of a tweet that was never looked up comes from its id.
        age = now - (prior.created_at or born_at(id))
        if offer := _best_offer(home, shares.values(), age):
            offer.share.unpaid.append(Unpaid(id, offer.reserved_for_younger))
        else:
            waiting.append(id)
    taken = [share for share in shares.values() if share.ids]
    return Shares(sorted(taken, key=lambda share: -len(share.ids)), waiting)


def _is_free(share: Share) -> bool:
    """Whether it has no budget, and requests left."""
    return share.balance.left is None and share.balance.requests > 0


class _Offer(NamedTuple):
    """What a share's project has for one more tweet of some age."""

    share: Share
    reserved_for_younger: int  # tweet-days
    left: float  # tweet-days, after those assigned in this batch


def _best_offer(home: Share | None, shares: Iterable[Share], age: timedelta) -> _Offer | None:
    """Of the tweet's own project while it has money for it, else of the one that has most left."""
    if home and (own := _offer(home, age)).left > 0:
        return own
    # It may have money in a moment; otherwise others would pay for its old tweets each midnight.
    if home and home.balance.is_provisional and home.balance.left:
        return None
    richest = max(
        (_offer(share, age) for share in shares),
        key=lambda offer: (offer.left, offer.share.balance.requests),
    )
    return richest if richest.left > 0 else None


def _offer(share: Share, age: timedelta) -> _Offer:
    reserved = share.balance.reserved_for_younger_than(age)
    if share.balance.left is None:
        return _Offer(share, reserved, float("inf"))
    return _Offer(share, reserved, share.balance.left - reserved - len(share.unpaid))
