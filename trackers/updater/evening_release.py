"""In the evening, money that the young did not need goes to tweets that wait for tomorrow's.

a minute's rationing ─ spare tweet-days ─> as many of those that wait, the youngest first: due now
All that waited come back once, when the evening begins (`updater.reserve`). From then on, each
minute frees some of what is kept for surprises; it would otherwise be left unspent.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from trackers.money.balances import Balance
from trackers.schedule.tweet_changes import check_in_turn
from tweetwatch.database import cursor

# No look-ups are added this shortly before midnight: they might be made on the next day.
LAST_CALL = timedelta(minutes=2)
# At most this many are considered each minute, however many wait.
MAX_CONSIDERED = 10_000
# A project's money does not help a tweet that another project pays for. LATERAL with a LIMIT: each
# tweet is found by its primary key, whatever the statistics say.
_WAITING_FOR_MONEY = f"""
    SELECT j.key
    FROM (
        SELECT key, due_at, for_money_until FROM trackers_tweetupdate
        WHERE for_money_until IS NOT NULL ORDER BY key DESC LIMIT {MAX_CONSIDERED}
    ) j CROSS JOIN LATERAL (
        SELECT paid_by FROM trackers_tweet WHERE id = j.key LIMIT 1
    ) t
    WHERE j.due_at = j.for_money_until AND j.due_at >= %(next_day)s
      AND coalesce(t.paid_by, %(project)s) = %(project)s
    ORDER BY j.key DESC LIMIT %(spare)s
"""


def release_spare(balance: Balance, spare: int, *, now: datetime) -> int:
    """Have up to `spare` tweets that wait for this balance looked up today; return how many."""
    next_day = now + (balance.next_day() - balance.now)
    params = {"next_day": next_day, "project": balance.project, "spare": spare}
    with cursor() as db:
        ids = [id for (id,) in db.execute(_WAITING_FOR_MONEY, params)]
    return check_in_turn(ids) if ids else 0
