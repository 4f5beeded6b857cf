"""Projects whose credits or cap are used up, according to X: how long they wait."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from trackers.outbox.staging import alerts
from trackers.xapi.errors import Depleted
from tweetwatch.database import cursor
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

# A person may buy credits or raise the cap at any time: we try again after this wait, which doubles
# with each further refusal.
_FIRST_WAIT = timedelta(minutes=10)
_MAX_WAIT = timedelta(hours=6)
# Where X names the day, that is how often a person's new limit is looked for.
_PROBE_EVERY = timedelta(hours=1)

# Only the first of several refusals in a row is announced: the others have the same cause.
_DEPLETED = """
    SELECT '/operations/', jsonb_build_object('project', name, 'what', depleted_reason)
    FROM depleted WHERE depletions = 1
"""
_MARK_DEPLETED = statement(__file__, "deplete", alerts=alerts(_DEPLETED))
# Usually this writes nothing.
_GO_ON = """
    UPDATE trackers_project p SET depletions = 0, depleted_until = NULL, depleted_reason = ''
    FROM trackers_app a WHERE a.id = %(app)s AND p.id = a.project_id AND p.depletions > 0
"""


def mark_depleted(app: int, error: Depleted, *, now: datetime) -> None:
    """Stop all requests of the app's project for a while, and of all that the same account pays.

    Until the day that X names begins, it is asked once an hour.
    """
    resets_on = error.resets_on if error.resets_on and error.resets_on > now.date() else None
    again = f" Until {resets_on}, 00:00 UTC, X is asked once an hour." if resets_on else ""
    params = {
        "app": app,
        "because": f"{error.reason}{again}"[:300],
        "now": now,
        "first": _FIRST_WAIT,
        "most": _MAX_WAIT,
        "account": error.account,
        "resets_on": resets_on,
        "probe_every": _PROBE_EVERY,
    }
    with cursor() as db:
        depleted = db.execute(_MARK_DEPLETED, params).fetchall()
    for name, until in depleted:
        logger.warning(
            "project %s is depleted until %s: %s",
            name,
            until.isoformat(timespec="seconds"),
            error.reason,
        )


def end_depletion(app: int) -> None:
    """End the stop: X answered, so the project has money again."""
    with cursor() as db:
        db.execute(_GO_ON, {"app": app})
