"""A rate limit for each token: requests in a window of a minute, over all processes.

One row per token, so the table's size is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from tweetwatch.database import cursor

_WINDOW = timedelta(minutes=1)

# The window begins with its first request. Beyond the limit requests are not counted, so a program
# that keeps on asking is let in again as soon as the window is over.
# Locks: the row of the token, for this statement only.
_COUNT_REQUEST = """
    INSERT INTO trackers_apiuse AS u (token_id, begun_at, used)
    VALUES (%(token)s, now(), 1)
    ON CONFLICT (token_id) DO UPDATE SET
        begun_at = CASE WHEN u.begun_at <= now() - %(window)s THEN now() ELSE u.begun_at END,
        used = CASE WHEN u.begun_at <= now() - %(window)s THEN 1
                    ELSE least(u.used, %(most)s) + 1 END
    RETURNING used, extract(epoch FROM begun_at + %(window)s - now())::float8
"""


@dataclass(frozen=True, slots=True)
class RateUse:
    most: int
    left: int  # requests; below 0: this one is over the limit
    seconds: int  # until the window ends

    @property
    def is_over(self) -> bool:
        return self.left < 0


def count_request(token_id: int, *, most: int) -> RateUse:
    """Count a request."""
    with cursor() as db:
        row = db.execute(
            _COUNT_REQUEST, {"token": token_id, "window": _WINDOW, "most": most}
        ).fetchone()
    assert row is not None
    used, seconds = row
    return RateUse(most, most - used, max(1, round(seconds)))
