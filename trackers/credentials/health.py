"""Whether X accepts a credential, and where it is left alone for a while.

401 ─> refused, in the credential's row: asked nowhere for 1, 2, 4 … 60 minutes ─> one try ─> an
answer ends it
429, Retry-After, 403 ─> cool-down, in the window's row ─> one request tests ─> an answer ends it
(`learning`). So all workers and all sources share one ladder.

A 401 proves nothing about the keys: X once answered 401 to everybody for two hours. So none
disables a credential.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.db.models.functions import Now

from trackers.credentials.models import Credential
from trackers.credentials.windows import X_NOW, Reservation, wait_after
from trackers.outbox.staging import alerts
from trackers.xapi.errors import RateLimited, Refused, Unavailable, XError
from tweetwatch.database import cursor
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

# X's windows last a quarter of an hour. Whatever it says, it is asked again this often: it, or a
# machine in front of it, has asked for a day after a fault that lasted a minute.
MAX_COOLDOWN = timedelta(minutes=15)
# Keys that X answers 401 have most likely been replaced at X: only a person can do something.
_LONGEST_FOR_KEYS = timedelta(hours=1)
# The third wait is over by then: more than a passing fault.
_REFUSALS_UNTIL_ALERT = 4

# A try of refused keys was counted when it was reserved; that of a person is not.
_REFUSALS = "greatest(c.refused, 1)"
_ALERT = f"""
    SELECT '/operations/', jsonb_build_object('credential', name, 'what', %(because)s::text)
    FROM refused WHERE refused = {_REFUSALS_UNTIL_ALERT} AND NOT %(by_hand)s
"""
# Requests that were under way together count once: the others saw an earlier count.
_REFUSE = f"""
    WITH refused AS (
        UPDATE trackers_credential c SET
            refused = {_REFUSALS},
            refused_since = coalesce(c.refused_since, statement_timestamp()),
            refused_reason = %(reason)s,
            retry_at = statement_timestamp()
                       + {wait_after(f"({_REFUSALS})", most="%(most)s::interval")}
        WHERE c.id = %(credential)s::bigint AND c.refused = %(refused)s
        RETURNING c.name, c.refused, c.retry_at
    ),
    {alerts(_ALERT)}
    SELECT refused, retry_at FROM refused
"""


def note_refusal(
    credential: Credential, error: Refused, *, because: str = "", by_hand: bool = False
) -> None:
    """X refused the credential's keys: it is asked nowhere until its next try is due.

    `because`: the reason, unless it is the error's own. `by_hand`: a person tried it.
    """
    because = because or error.reason
    params: dict[str, Any] = {
        "credential": credential.pk,
        "refused": credential.refused,
        "by_hand": by_hand,
        "reason": because[:300],
        "because": f"Refused by X: {because}"[:300],
        "most": _LONGEST_FOR_KEYS if error.status == 401 else MAX_COOLDOWN,
    }
    with cursor() as db:
        row = db.execute(_REFUSE, params).fetchone()
    if row is not None:
        logger.warning(
            "X refused credential %s (%d in a row), not asked before %s: %s",
            credential.name,
            row[0],
            row[1].isoformat(timespec="seconds"),
            because,
            extra={"credential": credential.name},
        )


def note_acceptance(credential: Credential) -> bool:
    """X accepted the credential: its refusals in a row end; whether there were any.

    Writes only then.
    """
    if credential.refused == 0:
        return False
    Credential.objects.filter(pk=credential.pk).update(
        refused=0, refused_since=None, refused_reason="", retry_at=None
    )
    credential.refused = 0
    return True


def give_try_back(credential: Credential) -> None:
    """The try that was reserved with refused keys is not made: it is due again."""
    tries = Credential.objects.filter(pk=credential.pk, refused=credential.refused)
    tries.filter(retry_at__gt=Now()).update(retry_at=Now(), refused=F("refused") - 1)


_FIRST_COOLDOWN = timedelta(seconds=1)
_MOST_DOUBLINGS = 10


@dataclass(frozen=True, slots=True)
class Cooldown:
    """What X asked for: to wait this long, or until a time by its own clock."""

    wait: timedelta | None = None
    until: datetime | None = None
    climbs: bool = False  # a 429; each one in a row doubles the cool-down


# A request sent before X's last rejection arrived does not count: eight workers that are rejected
# together climb one rung.
_IS_NEWS = "coalesce(%(at)s::timestamptz > w.rejected_at, true)"
_CLIMBS = f"(%(climbs)s AND {_IS_NEWS})"
_START_COOLDOWN = statement(
    __file__,
    "start_cooldown",
    climbs=_CLIMBS,
    is_news=_IS_NEWS,
    most_doublings=_MOST_DOUBLINGS,
    x_now=X_NOW,
)

# As after a 401, but at this endpoint alone, and at most until X's next window.
_WAIT = wait_after("w.refused + 1", most="%(most)s::interval")
_REFUSE_ENDPOINT = f"""
    UPDATE trackers_window w SET
        refused = CASE WHEN %(by_hand)s THEN greatest(w.refused, 1)
                       ELSE least(w.refused + 1, 32767) END,
        refused_since = coalesce(w.refused_since, statement_timestamp()),
        refused_reason = %(because)s,
        rejected_at = statement_timestamp(),
        cooldown_until = greatest(w.cooldown_until, statement_timestamp() + {_WAIT}),
        cooldown_reason = %(because)s
    WHERE w.id = %(id)s AND {_IS_NEWS}
    RETURNING w.endpoint, w.cooldown_until
"""


def cooldown_after(error: XError) -> Cooldown | None:
    """How long the credential is to leave the endpoint alone; None if it need not.

    1. 429: whatever its headers say.
    2. 503 and the like with a Retry-After: for that long.
    """
    if isinstance(error, RateLimited):
        return Cooldown(wait=error.retry_after, until=error.resets_at, climbs=True)
    if isinstance(error, Unavailable) and error.retry_after:
        return Cooldown(wait=error.retry_after)
    return None


def start_cooldown(reservation: Reservation, cooldown: Cooldown, *, because: str) -> None:
    """Let the credential leave the window's endpoint alone."""
    with cursor() as db:
        db.execute(
            _START_COOLDOWN,
            {
                "id": reservation.window_id,
                "at": reservation.at,
                "climbs": cooldown.climbs,
                "first": _FIRST_COOLDOWN * random.uniform(0.8, 1.2),
                "wait": cooldown.wait,
                "until": cooldown.until,
                "most": MAX_COOLDOWN,
                "because": because[:300],
            },
        )


def record_endpoint_refusal(
    reservation: Reservation, *, name: str, because: str, by_hand: bool = False
) -> None:
    """X refused the endpoint to the credential of this name, with a 403: it cools down there.

    `by_hand`: a person's try, which is shown as one refusal.
    """
    with cursor() as db:
        row = db.execute(
            _REFUSE_ENDPOINT,
            {
                "id": reservation.window_id,
                "at": reservation.at,
                "by_hand": by_hand,
                "most": MAX_COOLDOWN,
                "because": because[:300],
            },
        ).fetchone()
    if row is not None:
        logger.warning(
            "X refused credential %s at %s, not asked there before %s: %s",
            name,
            row[0],
            row[1].isoformat(timespec="seconds"),
            because,
            extra={"credential": name},
        )
