"""What a credential's replies taught: its windows, and how often in a row X refused it."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from trackers.xapi.answers import WindowSeen
from trackers.xapi.models import Credential
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

REFUSALS_UNTIL_DISABLED = 3
REFUSED_FOR_AT_LEAST = timedelta(minutes=5)

# Replies come in any order: what an older one says is dropped, and within one window the lower
# count holds, since requests under way are in ours and not in X's. Most replies say what the
# countdown knew; those neither write nor lock anything.
LEARN = """
    WITH said AS (
        SELECT %(credential)s::bigint AS credential_id, %(endpoint)s::text AS endpoint,
            %(limit)s::int AS "limit", %(remaining)s::int AS remaining,
            %(resets_at)s::timestamptz AS resets_at, %(seen_at)s::timestamptz AS seen_at
    )
    INSERT INTO trackers_window AS w
        (credential_id, endpoint, "limit", remaining, resets_at, seen_at)
    SELECT * FROM said
    WHERE EXISTS (SELECT FROM trackers_credential c WHERE c.id = said.credential_id)
        AND NOT EXISTS (
            SELECT FROM trackers_window k
            WHERE k.credential_id = said.credential_id AND k.endpoint = said.endpoint
                AND k.resets_at = said.resets_at AND k."limit" = said."limit"
                AND k.remaining <= said.remaining
        )
    ON CONFLICT (credential_id, endpoint) DO UPDATE SET
        "limit" = EXCLUDED."limit",
        remaining = CASE
            WHEN w.resets_at = EXCLUDED.resets_at THEN LEAST(w.remaining, EXCLUDED.remaining)
            ELSE EXCLUDED.remaining
        END,
        resets_at = EXCLUDED.resets_at,
        seen_at = EXCLUDED.seen_at
    WHERE (w.seen_at, w.resets_at) <= (EXCLUDED.seen_at, EXCLUDED.resets_at)
        OR w.resets_at = EXCLUDED.resets_at
"""


def learn(credential: Credential, window: WindowSeen | None) -> None:
    """Remember what a reply's headers said; None when they said nothing."""
    if window is None:
        return
    params: dict[str, Any] = {
        "credential": credential.pk,
        "endpoint": window.endpoint,
        "limit": window.limit,
        "remaining": window.remaining,
        "resets_at": window.resets_at,
        "seen_at": window.seen_at,
    }
    with cursor() as db:
        db.execute(LEARN, params)


# One refusal proves nothing: X once answered 401 to everybody for two hours.
REFUSE = """
    UPDATE trackers_credential c SET
        refused = LEAST(c.refused + 1, 32767),
        refused_since = COALESCE(c.refused_since, %(now)s::timestamptz),
        disabled_at = CASE WHEN {enough} THEN %(now)s::timestamptz END,
        disabled_because = CASE WHEN {enough} THEN %(because)s::text ELSE '' END
    WHERE c.id = %(credential)s::bigint AND c.disabled_at IS NULL
    RETURNING c.disabled_at IS NOT NULL
""".replace(
    "{enough}",
    "c.refused + 1 >= %(refusals)s::int"
    " AND c.refused_since <= %(now)s::timestamptz - %(for)s::interval",
)


def refuse(credential: Credential, reason: str, *, now: datetime) -> bool:
    """Count a refusal by X; True when it disabled the credential.

    It does so with the third refusal in a row if the first is five minutes old, and says why.
    """
    params: dict[str, Any] = {
        "credential": credential.pk,
        "now": now,
        "because": f"Refused by X: {reason}"[:300],
        "refusals": REFUSALS_UNTIL_DISABLED,
        "for": REFUSED_FOR_AT_LEAST,
    }
    with cursor() as db:
        row = db.execute(REFUSE, params).fetchone()
    if row is None or not row[0]:
        return False
    logger.warning("credential %s is disabled: %s", credential.name, params["because"])
    return True


def accept(credential: Credential) -> None:
    """X accepted the credential: refusals in a row are over. Writes only when there were any."""
    if credential.refused == 0:
        return
    credential.refused = 0
    Credential.objects.filter(pk=credential.pk, disabled_at=None).update(
        refused=0, refused_since=None
    )
