"""What our rows say before X is asked: the time, the intervals, the tweets, and the money.

Most tweets have the same facts, so they form a few groups, however many they are. Facts of single
tweets that only some answers need are read after the answers (`read_priors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from trackers.money.balances import OF_TWEETS, READ_BALANCES, Balance, parse_balances
from trackers.schedule.intervals import CURRENT, Plan, read_current
from tweetwatch.database import array, fetch_together


class Prior(NamedTuple):
    """When a tweet was posted, whether X showed it, and what day and project last paid for it."""

    created_at: datetime | None = None
    missing_since: datetime | None = None
    gone: bool = False
    measured: bool = False
    paid_on: date | None = None  # UTC
    paid_by: int | None = None
    # Since when X's answers for it cannot be read, or leave it out.
    unreadable_since: datetime | None = None
    newest: int | None = None  # the id of the version to ask X for, if it was edited
    is_new: bool = False  # X has not shown that version yet
    version_of: int | None = None  # the tweet that is looked up instead
    withheld: str = ""  # where X does not show it

    @property
    def unreadable(self) -> bool:
        return self.unreadable_since is not None

    @property
    def is_described(self) -> bool:
        return self.created_at is not None and not self.gone and not self.is_new


NO_PRIOR = Prior()

# ANY(ARRAY): by the primary key, whatever the statistics say (see CLAIM in jobs).
_PRIORS = """
    SELECT id, created_at, missing_since, gone_at IS NOT NULL, measurements > 0, paid_on, paid_by,
           unreadable_since, newest,
           newest IS NOT NULL AND NOT EXISTS (
               SELECT FROM trackers_tweetversion v
               WHERE v.id = ANY(ARRAY[newest]) AND v.text IS NOT NULL),
           version_of, withheld
    FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[])
"""

# Usual tweets are grouped by who paid for them last and by the interval for their age; odd ones are
# then read one by one. The age of a group is that of its youngest tweet.
KNOWN_IN_GROUPS = """
    SELECT array_agg(id), odd, max(created_at), paid_on, paid_by
    FROM (
        SELECT id, created_at, paid_on, paid_by,
               created_at IS NULL OR gone_at IS NOT NULL OR newest IS NOT NULL
               OR version_of IS NOT NULL OR withheld <> '' AS odd,
               width_bucket(date_part('epoch', now() - created_at), ARRAY(
                   SELECT date_part('epoch', younger_than)
                   FROM trackers_interval WHERE enabled ORDER BY younger_than)) AS tier
        FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[])
    ) tweet
    GROUP BY odd, tier, paid_on, paid_by
"""


class Group(NamedTuple):
    """Tweets with the same facts; the `created_at` is that of the youngest."""

    prior: Prior
    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Before:
    """What is known at the database's time `now`."""

    now: datetime
    plan: Plan
    usual: Sequence[Group]  # tweets that X shows, described, never edited, and withheld nowhere
    odd: Mapping[int, Prior]  # all others, each with its own facts
    untracked: frozenset[int]  # keys that are no tweets
    balances: Sequence[Balance]

    def groups(self) -> Iterator[Group]:
        """All that X may be asked for: everything but versions of other tweets."""
        yield from self.usual
        for id, prior in self.odd.items():
            if prior.version_of is None:
                yield Group(prior, (id,))


def read_before(ids: Sequence[int]) -> Before:
    """All that a batch needs to know, in one round trip, and one more if there are odd tweets."""
    current, known, balances = fetch_together(
        (CURRENT, {}), (KNOWN_IN_GROUPS, {"ids": array(ids)}), (READ_BALANCES, OF_TWEETS)
    )
    now, plan = read_current(current)
    usual = [
        Group(Prior(created_at, measured=True, paid_on=paid_on, paid_by=paid_by), ids_of_group)
        for ids_of_group, odd, created_at, paid_on, paid_by in known
        if not odd
    ]
    odd = set(ids).difference(*(group.ids for group in usual))
    facts = read_priors(odd) if odd else {}
    untracked = frozenset(odd - facts.keys())
    return Before(
        now, plan, usual, dict(sorted(facts.items())), untracked, parse_balances(balances)
    )


def read_priors(ids: Iterable[int]) -> dict[int, Prior]:
    """What is known about each tracked tweet."""
    [rows] = fetch_together((_PRIORS, {"ids": array(ids)}))
    return {row[0]: Prior._make(row[1:]) for row in rows}
