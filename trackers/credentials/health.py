"""Whether X accepts a credential: how often in a row it was refused, with a 401.

Refusals at a single endpoint, with a 403, are kept with its window (`cooldowns`).
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db.models.functions import Now

from trackers.credentials.models import Credential
from trackers.outbox.staging import alerts
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

REFUSALS_UNTIL_DISABLED = 3
REFUSED_FOR_AT_LEAST = timedelta(minutes=5)

# One refusal proves nothing: X once answered 401 to everybody for two hours.
_ENOUGH_REFUSALS = """
    c.refused + 1 >= %(refusals)s::int
    AND c.refused_since <= %(now)s::timestamptz - %(for)s::interval
"""
_DISABLED = """
    SELECT '/operations/', jsonb_build_object('credential', name, 'what', disabled_because)
    FROM refused WHERE disabled
"""
_REFUSE = f"""
    WITH refused AS (
        UPDATE trackers_credential c SET
            refused = LEAST(c.refused + 1, 32767),
            refused_since = COALESCE(c.refused_since, %(now)s::timestamptz),
            disabled_at = CASE WHEN {_ENOUGH_REFUSALS} THEN %(now)s::timestamptz END,
            disabled_because = CASE WHEN {_ENOUGH_REFUSALS} THEN %(because)s::text ELSE '' END
        WHERE c.id = %(credential)s::bigint AND c.disabled_at IS NULL
        RETURNING c.name, c.disabled_because, c.disabled_at IS NOT NULL AS disabled
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
        "for": REFUSED_FOR_AT_LEAST,
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
