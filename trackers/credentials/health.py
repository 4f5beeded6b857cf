"""Whether X accepts a credential, and where it is left alone for a while.

401 ─> refused, in the credential's row ─> the third in a row disables it
429, Retry-After, 403s ─> cool-down, in the window's row ─> one request tests ─> an answer ends it
(`learning`). So all workers and all sources share one ladder.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models.functions import Now

from trackers.credentials.models import Credential
from trackers.credentials.windows import REFUSALS_UNTIL_DISABLED, X_NOW, Reservation
from trackers.outbox.staging import alerts
from trackers.xapi.errors import RateLimited, Unavailable, XError
from tweetwatch.database import cursor
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

_REFUSED_FOR_AT_LEAST = timedelta(minutes=5)

# One refusal proves nothing: X once answered 401 to everybody for two hours.
_ENOUGH_REFUSALS = """
    c.refused + 1 >= %(refusals)s::int
    AND c.refused_since <= %(now)s::timestamptz - %(for)s::interval
"""
_DISABLED = """
    SELECT '/operations/', jsonb_build_object('credential', name, 'what', disabled_reason)
    FROM refused WHERE disabled
"""
_REFUSE = f"""
    WITH refused AS (
        UPDATE trackers_credential c SET
            refused = LEAST(c.refused + 1, 32767),
            refused_since = COALESCE(c.refused_since, %(now)s::timestamptz),
            disabled_at = CASE WHEN {_ENOUGH_REFUSALS} THEN %(now)s::timestamptz END,
            disabled_reason = CASE WHEN {_ENOUGH_REFUSALS} THEN %(because)s::text ELSE '' END
        WHERE c.id = %(credential)s::bigint AND c.disabled_at IS NULL
        RETURNING c.name, c.disabled_reason, c.disabled_at IS NOT NULL AS disabled
    ),
    {alerts(_DISABLED)}
    SELECT disabled FROM refused
"""


def note_refusal(credential: Credential, reason: str, *, now: datetime) -> bool:
    """Count a refusal by X; True when it disabled the credential.

    The third refusal in a row does so if the first is at least five minutes old, and says why.
    """
    params: dict[str, Any] = {
        "credential": credential.pk,
        "now": now,
        "because": f"Refused by X: {reason}"[:300],
        "refusals": REFUSALS_UNTIL_DISABLED,
        "for": _REFUSED_FOR_AT_LEAST,
    }
    with cursor() as db:
        row = db.execute(_REFUSE, params).fetchone()
    if row is None or not row[0]:
        return False
    logger.warning(
        "credential %s is disabled: %s",
        credential.name,
        params["because"],
        extra={"credential": credential.name},
    )
    return True


def note_try(credential: Credential) -> None:
    """X refused a person's try: shown as one refusal, however many tries there were.

    It counts as the first of a row, and never disables by itself.
    """
    Credential.objects.filter(pk=credential.pk, refused=0).update(refused=1, refused_since=Now())


def note_acceptance(credential: Credential) -> None:
    """X accepted the credential: its refusals in a row end. Writes only if there were any."""
    if credential.refused == 0:
        return
    credential.refused = 0
    Credential.objects.filter(pk=credential.pk, disabled_at=None).update(
        refused=0, refused_since=None
    )


_FIRST_COOLDOWN = timedelta(seconds=1)
# X's windows last a quarter of an hour. Whatever it says, it is asked again this often: it, or a
# machine in front of it, has asked for a day after a fault that lasted a minute.
MAX_COOLDOWN = timedelta(minutes=15)
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

# As a credential is disabled by 401s, but at this endpoint alone, and tried again.
_IS_ENOUGH = """(%(counts)s AND w.refused + 1 >= %(refusals)s
                AND w.refused_since <= statement_timestamp() - %(for)s::interval)"""
_REFUSE_ENDPOINT = f"""
    UPDATE trackers_window w SET
        refused = CASE WHEN %(counts)s THEN least(w.refused + 1, 32767)
                       ELSE greatest(w.refused, 1) END,
        refused_since = coalesce(w.refused_since, statement_timestamp()),
        refused_reason = %(because)s,
        rejected_at = statement_timestamp(),
        cooldown_until = CASE
            WHEN {_IS_ENOUGH}
            THEN greatest(w.cooldown_until, statement_timestamp() + %(most)s::interval)
            ELSE w.cooldown_until END,
        cooldown_reason = CASE WHEN {_IS_ENOUGH} THEN %(because)s ELSE w.cooldown_reason END
    WHERE w.id = %(id)s AND {_IS_NEWS}
    RETURNING w.endpoint, w.cooldown_until > statement_timestamp()
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
    reservation: Reservation, *, name: str, because: str, counts: bool = True
) -> None:
    """X refused the endpoint to the credential of this name, with a 403.

    The third refusal in a row, if the first is five minutes old, and each one after it, lets it
    cool down there. `counts`: False for a person's try, which is shown as one refusal.
    """
    with cursor() as db:
        row = db.execute(
            _REFUSE_ENDPOINT,
            {
                "id": reservation.window_id,
                "at": reservation.at,
                "counts": counts,
                "refusals": REFUSALS_UNTIL_DISABLED,
                "for": _REFUSED_FOR_AT_LEAST,
                "most": MAX_COOLDOWN,
                "because": because[:300],
            },
        ).fetchone()
    if row is not None and row[1]:
        logger.warning(
            "credential %s is refused at %s: %s",
            name,
            row[0],
            because,
            extra={"credential": name},
        )
