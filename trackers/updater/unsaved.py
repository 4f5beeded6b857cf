"""What X billed for tweets that could not be saved, until the database takes it.

saving fails ─> kept in this process ─> before the next request: the tweets are paid for, the
                                        windows and the money settled
Otherwise each further try would reserve the same tweet-days again, and the books would say more
than X's bill. If the process ends first, they do: what is not settled counts as spent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from trackers.credentials import selection
from trackers.money import ledger
from trackers.money.ledger import Settlement
from trackers.tweets.record import mark_paid
from trackers.updater.lookups import Answered
from trackers.xapi.results import Lookup


@dataclass(slots=True)
class Unsaved:
    """A request whose answer was not saved."""

    answered: Answered
    settlement: Settlement
    is_window_settled: bool = False


_unsaved: list[Unsaved] = []


def keep_unsaved(answers: Sequence[Answered], settlements: Sequence[Settlement]) -> None:
    _unsaved.extend(map(Unsaved, answers, settlements))


def record_unsaved() -> None:
    """Write what is kept; DatabaseError: the database still cannot, and X should not be asked.

    Locks, in a transaction each: the window's row; the tweets, then the day's spending.
    """
    while _unsaved:
        kept = _unsaved[0]
        grant, reply = kept.answered.grant, kept.answered.reply
        if not kept.is_window_settled:
            selection.settle_all_answered([(grant.selected, reply.window)])
            kept.is_window_settled = True
        visible = grant.unpaid & set(_tweets_shown(kept.answered))
        with transaction.atomic():
            # Another process may have asked for them since, and counted them. Of versions that are
            # one tweet X billed fewer than there are tweets.
            new = mark_paid(visible, day=grant.payment.day, project=grant.selected.project)
            posts = max(0, kept.settlement.posts - len(visible) + new)
            ledger.settle_all([replace(kept.settlement, posts=posts)])
        del _unsaved[0]


def _tweets_shown(answered: Answered) -> Collection[int]:
    """The tweets that X showed, readable or not: it bills these."""
    reply = answered.reply
    return reply.posts.keys() | reply.broken.keys() if isinstance(reply, Lookup) else reply.ids
