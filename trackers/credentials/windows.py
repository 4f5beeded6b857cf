"""Request windows, exact: a request is reserved before it is sent, and settled by its reply.

reserve ─> the request ─> `learning.settle_all` (what the headers said, or that they said nothing)

Room is what X last said is left, less what it may not have counted: requests under way, and lost
ones. Some windows let only one request through while the rest wait for its headers: an unknown or
just expired one, one where X rejected requests (`health`), and a used-up one that X has not
reported for longer than its windows last. A request that was reserved before a reset counts on both
sides of it. All of this is in the window's row, so that any number of workers on any number of
hosts share one truth.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trackers.xapi.endpoints import is_for_apps, is_of_a_plan, scopes_for, takes_one_a_second
from tweetwatch.database import cursor
from tweetwatch.statements import statement

# Longer than any request may take: if a worker died, its request cannot arrive after this.
UNDER_WAY_FOR = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class Reservation:
    """The right to send one request."""

    window_id: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Reserved:
    """Rights to send requests with one credential."""

    requests: tuple[Reservation, ...]  # how many
    credential: tuple[Any, ...]  # with its columns (LOADED)
    project: int
    depletions: int  # how often in a row X has said that its `project`'s money is used up


# The columns of a credential that asking takes.
LOADED = ("id", "name", "kind", "api", "app_id", "secrets", "refused")

# Parts of the statements below, over a window `w`. A reservation older than any request can last is
# not live: its worker died, and later replies have reported what X counted of it.
LIVE = """ARRAY(SELECT r FROM unnest(w.under_way) r
                      WHERE r > statement_timestamp() - %(under_way_for)s::interval)"""
# How far X's clock is ahead of the database's, by its Date; 0 until it sent one.
_AHEAD = "coalesce(w.seen_at - w.learned_at, interval '0')"
# X's clock now. Its Date is truncated to seconds, so this is never ahead; X's reset is in whole
# seconds too and may be truncated as well, hence the extra second.
X_NOW = f"(statement_timestamp() + {_AHEAD})"
OVER = f"(w.resets_at IS NULL OR {X_NOW} >= w.resets_at + interval '1 second')"
# Longer than all of X's windows but a few, which last a day. A plan may change and a reset be
# wrong: we would never know without asking.
UNHEARD_FOR = "interval '16 minutes'"
IS_UNHEARD = f"""(w.remaining <= cardinality(w.lost)
                  AND w.learned_at <= statement_timestamp() - {UNHEARD_FOR})"""
# X rejected the last request at this endpoint (`health`): one tests for all.
_IS_TESTED = "(w.limited > 0 OR w.refused > 0)"
_ONE = f"1 - cardinality({LIVE})"
# The app's 24 hours, where X limits them: all its tokens share what is left. A token's own window
# counts exactly; what several have under way at once may exceed the app's by as much.
_OF_THE_APP = f"""FROM trackers_appday d
                  WHERE d.app_id = w.app_id AND d.endpoint = w.endpoint
                    AND statement_timestamp() + (d.seen_at - d.learned_at)
                        < d.resets_at + interval '1 second'
                    AND d.learned_at > statement_timestamp() - {UNHEARD_FOR}"""
_LEFT_TO_APP = f"(SELECT d.remaining {_OF_THE_APP})"
# When it opens again, by the database's clock, and when to ask whether it did; null with room.
APP_OPENS = f"""(SELECT d.resets_at + interval '1 second' - (d.seen_at - d.learned_at)
                  {_OF_THE_APP} AND d.remaining <= 0)"""
APP_IS_ASKED = f"""(SELECT d.learned_at + {UNHEARD_FOR} {_OF_THE_APP} AND d.remaining <= 0)"""
ROOM = f"""least({_LEFT_TO_APP}, CASE WHEN {OVER} OR {IS_UNHEARD} THEN {_ONE}
                 ELSE least(w.remaining - cardinality({LIVE}) - cardinality(w.lost),
                            CASE WHEN {_IS_TESTED} THEN {_ONE} END) END)"""
# When the window opens, by the database's clock.
OPENS = f"(w.resets_at + interval '1 second' - {_AHEAD})"
# In a backlog requests take turns: the rest of a window is spread over its remaining time.
# Spending it at once would leave nothing for what falls due next, for up to a quarter of an hour.
# With room for more than four a second nobody waits; and nobody waits so long that a wrong reset
# would never be noticed. A request that tests for all has waited already.
LAST = "greatest(w.learned_at, w.under_way[cardinality(w.under_way)])"
PACE_STEP = f"least(({OPENS} - {LAST}) / (greatest({ROOM}, 0) + 1), {UNHEARD_FOR})"
_IN_STEPS = f"""(%(spread)s AND NOT {OVER} AND NOT {_IS_TESTED}
                  AND {PACE_STEP} >= interval '250 milliseconds')"""
# X counts seconds when a request arrives. So one at a time, and the next a second after its reply.
_SECOND_IS_OVER = f"""(NOT %(a_second)s OR cardinality({LIVE}) = 0 AND coalesce(
                      greatest(w.learned_at, w.lost[cardinality(w.lost)]) + interval '1 second'
                      <= statement_timestamp(), true))"""
IN_TURN = f"""({_SECOND_IS_OVER}
                 AND (NOT {_IN_STEPS} OR {LAST} + {PACE_STEP} <= statement_timestamp()))"""
# How long after the last one the next takes its turn.
TURN = f"CASE WHEN %(a_second)s THEN interval '1 second' ELSE {PACE_STEP} END"


def wait_after(refusals: str, *, most: str) -> str:
    """SQL: how long X is not asked after so many refusals in a row."""
    return f"least(interval '1 minute' * 2 ^ least({refusals} - 1, 30), {most})"


# How many of `most` requests are reserved where there is room: one if requests take turns, and one
# if X refused the last request, so that it tests for the others.
_REQUESTS_GRANTED = f"""(CASE
                  WHEN %(a_second)s OR {_IN_STEPS} OR c.refused > 0 OR w.refused > 0
                       OR p.depletions > 0 THEN 1
                  ELSE least(%(most)s::int, {ROOM}) END)"""
# The times identify a window's reservations: a cancelled or settled one is removed by its time.
# So they are a microsecond apart, and never repeat whatever the clock does.
TIMES = """ARRAY(
            SELECT moment.at
            FROM (SELECT clock_timestamp() AS now) AS clock
            CROSS JOIN LATERAL (
                SELECT clock.now + n * interval '1 microsecond' AS at
                FROM generate_series(0, chosen.count + cardinality(w.under_way)) AS n) AS moment
            WHERE moment.at <> ALL (w.under_way)
            ORDER BY moment.at LIMIT chosen.count)"""

# Usable credentials, with their windows at the endpoint of their API: each user's tokens have their
# own window, the bearer tokens of an app share one.
_HOLDER = "CASE WHEN c.kind <> 'bearer' THEN c.id END"
USABLE = f"""
    trackers_credential c
    JOIN trackers_app a ON a.id = c.app_id
    JOIN trackers_project p ON p.id = a.project_id
    JOIN trackers_window w ON w.app_id = a.id AND w.endpoint = (%(endpoints)s::jsonb ->> c.api)
        AND w.credential_id IS NOT DISTINCT FROM {_HOLDER}
"""
WHICH = """
    c.id <> ALL (%(except)s::bigint[])
    AND (%(project)s::bigint IS NULL OR a.project_id = %(project)s::bigint)
    AND (%(only)s::bigint IS NULL OR c.id = %(only)s::bigint)
    AND (NOT %(for_apps)s OR c.kind = 'bearer')
    -- A plan that lacks the endpoint goes on lacking it: not until the credential changes.
    AND (NOT %(of_a_plan)s OR w.refused = 0 OR %(by_hand)s)
    -- Only a person who tries it asks with one that is disabled.
    AND (c.disabled_at IS NULL OR %(by_hand)s)
    -- What its user allowed; not known of old sign-ins until their tokens are renewed.
    AND (c.scopes IS NULL OR c.scopes @> %(scopes)s::varchar[])
"""
# Not while X says that its project's credits or cap are used up (trackers.money.depletion).
HAS_CREDIT = """(%(only)s::bigint IS NOT NULL OR p.depleted_until IS NULL
                     OR p.depleted_until <= statement_timestamp())"""
# Not while its tokens are being renewed, nor during the wait after that failed (`renew`).
HAS_TOKENS = """(%(only)s::bigint IS NOT NULL OR c.refreshing_until IS NULL
                     OR c.refreshing_until <= statement_timestamp())"""

# Not after X refused its keys, until the next try is due (`health`); a person may try anyway.
IS_DUE = "(%(by_hand)s OR c.retry_at IS NULL OR c.retry_at <= statement_timestamp())"
# Until the reply to that try says when the next one is due; if its worker dies, it says nothing.
_TRIED = "CASE WHEN %(by_hand)s THEN c.refused ELSE least(c.refused + 1, 32767) END"
_TRIED_UNTIL = f"""CASE WHEN %(by_hand)s THEN c.retry_at ELSE statement_timestamp()
                        + {wait_after("(c.refused + 1)", most="interval '1 hour'")} END"""
# Not while X has asked to be left alone (`health`); a person may try anyway.
IS_COOLED_DOWN = """(%(by_hand)s OR w.cooldown_until IS NULL
                     OR w.cooldown_until <= statement_timestamp())"""

_KNOW = f"""
    INSERT INTO trackers_window (app_id, credential_id, endpoint, under_way, lost)
    SELECT DISTINCT c.app_id, {_HOLDER}, %(endpoints)s::jsonb ->> c.api,
           '{{}}'::timestamptz[], '{{}}'::timestamptz[]
    FROM trackers_credential c
    WHERE %(endpoints)s::jsonb ? c.api AND (NOT %(for_apps)s OR c.kind = 'bearer')
    ORDER BY 1, 2
    ON CONFLICT (app_id, credential_id, endpoint) DO NOTHING
"""

# What takes only one request goes first: the due try of a credential that X refused, here or
# altogether, or it would never be used again while others have room; then an unknown window. Then
# the one with the most room.
_BEST_FIRST = f"""(c.refused > 0 OR w.refused > 0) DESC,
            w.resets_at IS NULL DESC, {ROOM} DESC, c.used_at NULLS FIRST, c.id"""
_PARTS = {
    "room": ROOM,
    "count": _REQUESTS_GRANTED,
    "usable": USABLE,
    "which": WHICH,
    "has_tokens": HAS_TOKENS,
    "has_credit": HAS_CREDIT,
    "is_due": IS_DUE,
    "tried": _TRIED,
    "tried_until": _TRIED_UNTIL,
    "is_cooled_down": IS_COOLED_DOWN,
    "in_turn": IN_TURN,
    "live": LIVE,
    "times": TIMES,
    # With the try that this is.
    "columns": ", ".join(f"c.{name}" for name in LOADED).replace(
        "c.refused", "coalesce((SELECT refused FROM tried), c.refused)"
    ),
}
# SKIP LOCKED: while one worker reserves, the next takes another credential instead of waiting.
_RESERVE = statement(
    __file__, "reserve", open=(), order=_BEST_FIRST, when_locked="SKIP LOCKED", **_PARTS
)
# The same, but waiting: for when others hold the rows of all windows with room. A row that turns
# out to have no room stays locked while we wait for the next, so rows are taken in the order of
# their ids, or two waiting workers would deadlock.
_RESERVE_AND_WAIT = statement(__file__, "reserve", open=(), order="w.id", when_locked="", **_PARTS)


def reservation_params(
    endpoint_of: Mapping[str, str],
    *,
    only: int | None,
    without: Iterable[int],
    project: int | None = None,
    spread: bool = False,
    by_hand: bool = False,
    most: int = 1,
    trusted: bool = False,
) -> dict[str, Any]:
    """`trusted`: only with credentials that X did not refuse last time."""
    return {
        "endpoints": json.dumps(dict(endpoint_of)),
        "scopes": scopes_for(endpoint_of),
        "for_apps": is_for_apps(endpoint_of),
        "a_second": takes_one_a_second(endpoint_of),
        "of_a_plan": is_of_a_plan(endpoint_of.get("v2")),
        "except": list(without),
        "only": only,
        "project": project,
        "spread": spread,
        "by_hand": by_hand,
        "most": most,
        "trusted": trusted,
        "under_way_for": UNDER_WAY_FOR,
    }


def know(params: Mapping[str, Any]) -> bool:
    """Create missing rows of windows; return whether there were any."""
    with cursor() as db:
        return db.execute(_KNOW, params).rowcount > 0


def reserve_requests(params: Mapping[str, Any]) -> Reserved | None:
    """Reserve requests with the credential that has the most room, as many as it has room for."""
    return reserve_at_once(params) or _reserved_by(_RESERVE_AND_WAIT, params)


def reserve_at_once(params: Mapping[str, Any]) -> Reserved | None:
    """The same, but None when every window with room is locked by others."""
    return _reserved_by(_RESERVE, params)


def _reserved_by(query: str, params: Mapping[str, Any]) -> Reserved | None:
    with cursor() as db:
        row = db.execute(query, params).fetchone()
    if row is None:
        return None
    window_id, times, *of_credential, project, depletions = row
    requests = tuple(Reservation(window_id, at) for at in times)
    return Reserved(requests, tuple(of_credential), project, depletions)
