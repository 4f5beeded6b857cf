"""Request windows, exactly: a request is reserved before it is sent, and settled by its reply.

reserve ─> the request ─> settle (what the headers said, or that they said nothing)

Room is what X last said is left, less what it may not have counted: requests under way, and lost
ones. An unknown or just expired window lets one request through while the rest wait for its
headers. A request that was reserved before a reset counts on both sides of it. All in the row of
the window, so that any number of workers on any number of hosts share one truth.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trackers.xapi.answers import WindowSeen
from tweetwatch.database import cursor, plain

# Longer than any request may take: after it a request whose worker died cannot arrive any more.
UNDER_WAY_FOR = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class Reservation:
    """The right to send one request."""

    window_id: int
    at: datetime


# Parts of the statements below, over a window `w`. Reserved longer ago than a request can last:
# its worker died, and what X counted of it the later replies have told.
LIVE = """ARRAY(SELECT r FROM unnest(w.under_way) r
                      WHERE r > statement_timestamp() - %(under_way_for)s::interval)"""
# X's clock now. Its Date has whole seconds, cut, so this is never ahead; X's reset has whole
# seconds too, and may be cut as well, hence the second more.
OVER = """(w.resets_at IS NULL OR statement_timestamp() + (w.seen_at - w.learned_at)
                                   >= w.resets_at + interval '1 second')"""
ROOM = f"""(CASE WHEN {OVER} THEN 1 - cardinality({LIVE})
                 ELSE w.remaining - cardinality({LIVE}) - cardinality(w.lost) END)"""
# When the window opens, by the database's clock.
OPENS = "(w.resets_at + interval '1 second' - (w.seen_at - w.learned_at))"

# Credentials that may be asked with, and their windows at the endpoint of their API: each user's
# tokens have their own, the bearer tokens of an app have one together.
HOLDER = "CASE WHEN c.kind <> 'bearer' THEN c.id END"
USABLE = f"""
    trackers_credential c
    JOIN trackers_app a ON a.id = c.app_id
    JOIN trackers_project p ON p.id = a.project_id
    JOIN trackers_window w ON w.app_id = a.id AND w.endpoint = (%(endpoints)s::jsonb ->> c.api)
        AND w.credential_id IS NOT DISTINCT FROM {HOLDER}
"""
WHICH = """
    c.id <> ALL (%(except)s::bigint[])
    AND (%(project)s::bigint IS NULL OR a.project_id = %(project)s::bigint)
    AND CASE WHEN %(only)s::bigint IS NULL THEN c.disabled_at IS NULL
             ELSE c.id = %(only)s::bigint END
"""
# Not while X says that its project's credits or cap are used up (trackers.xapi.stops).
HAS_CREDIT = """(%(only)s::bigint IS NOT NULL OR p.stopped_until IS NULL
                     OR p.stopped_until <= statement_timestamp())"""
# Not while its tokens are renewed, nor for as long as they could not be (trackers.xapi.renew).
HAS_TOKENS = """(%(only)s::bigint IS NOT NULL OR c.refreshing_until IS NULL
                     OR c.refreshing_until <= statement_timestamp())"""

KNOW = f"""
    INSERT INTO trackers_window (app_id, credential_id, endpoint, under_way, lost)
    SELECT DISTINCT c.app_id, {HOLDER}, %(endpoints)s::jsonb ->> c.api,
           '{{}}'::timestamptz[], '{{}}'::timestamptz[]
    FROM trackers_credential c
    WHERE %(endpoints)s::jsonb ? c.api
    ORDER BY 1, 2
    ON CONFLICT (app_id, credential_id, endpoint) DO NOTHING
"""

# One that X refused is tried again once a minute, or when no other has room: its replies tell of
# no window. Else the one that X has not told of goes first, since it is one request only; then the
# one with the most room.
FIRST = f"""\
        ORDER BY c.refused > 0 AND c.used_at > statement_timestamp() - interval '1 minute',
            w.resets_at IS NULL DESC, {ROOM} DESC, c.used_at NULLS FIRST, c.id"""
# Its row is locked, and its room looked at again as it is then: FOR UPDATE,
# and the UPDATE after it, see the newest version of the row, whatever the statement's snapshot
# shows.
# SKIP LOCKED: while one reserves, the next takes another credential instead of waiting.
# A reservation that a crash of the database forgets could be one request too many, so near the end
# of a window it is flushed before the request is sent.
RESERVE = f"""
    WITH chosen AS MATERIALIZED (
        SELECT w.id, c.id AS credential_id, {ROOM} AS room
        FROM {USABLE}
        WHERE {WHICH} AND {HAS_TOKENS} AND {HAS_CREDIT} AND {ROOM} > 0
{FIRST}
        LIMIT 1
        FOR UPDATE OF w SKIP LOCKED
    ), reserved AS (
        UPDATE trackers_window w SET under_way = {LIVE} || clock_timestamp()
        FROM chosen WHERE w.id = chosen.id AND {ROOM} > 0
        RETURNING w.id, chosen.credential_id, w.under_way[cardinality(w.under_way)] AS at,
            set_config('synchronous_commit',
                       CASE WHEN chosen.room > 1000 THEN 'off' ELSE 'on' END, true)
    ), used AS (
        UPDATE trackers_credential c SET used_at = reserved.at
        FROM reserved WHERE c.id = reserved.credential_id
            AND (c.used_at IS NULL OR c.used_at < reserved.at - interval '1 second')
    )
    SELECT reserved.id, reserved.at, c.id, c.name, c.kind, c.api, c.app_id, c.secrets, c.refused,
        p.id, p.stops
    FROM reserved JOIN trackers_credential c ON c.id = reserved.credential_id
    JOIN trackers_app a ON a.id = c.app_id JOIN trackers_project p ON p.id = a.project_id
"""
# The same, but waiting: for the moment in which all that have room are somebody else's. A row that
# had no room after all stays locked while the next is waited for, so they are taken in the order
# of their ids, or two that wait would wait for each other.
RESERVE_AND_WAIT = RESERVE.replace(f"{FIRST}\n", "        ORDER BY w.id\n").replace(
    " SKIP LOCKED", ""
)
RESERVE, RESERVE_AND_WAIT = plain(RESERVE), plain(RESERVE_AND_WAIT)

# Replies come in any order. Within one window (X may say its reset a second later or earlier) the
# lower count holds; a later window replaces the earlier one; what an earlier one says is dropped.
# A reply that told nothing leaves its request among the lost, until the next window, and in that
# one for as long as it may still arrive.
SETTLE = """
    WITH said AS (
        SELECT %(limit)s::int AS "limit", %(remaining)s::int AS remaining,
               %(resets_at)s::timestamptz AS resets_at, %(seen_at)s::timestamptz AS seen_at
    ), judged AS (
        SELECT said.*,
               CASE WHEN said.resets_at IS NULL THEN 'nothing'
                    WHEN w.resets_at IS NULL
                      OR said.resets_at > w.resets_at + interval '2 seconds' THEN 'a later one'
                    WHEN said.resets_at < w.resets_at - interval '2 seconds' THEN 'an earlier one'
                    ELSE 'the same' END AS window
        FROM said, trackers_window w WHERE w.id = %(id)s FOR UPDATE OF w
    )
    UPDATE trackers_window w SET
        under_way = array_remove(w.under_way, %(at)s::timestamptz),
        lost = CASE judged.window
            WHEN 'nothing' THEN w.lost || %(at)s::timestamptz
            WHEN 'a later one' THEN ARRAY(
                SELECT r FROM unnest(w.lost) r
                WHERE r > statement_timestamp() - %(under_way_for)s::interval)
            ELSE w.lost END,
        "limit" = CASE WHEN judged.window IN ('a later one', 'the same')
                       THEN judged."limit" ELSE w."limit" END,
        remaining = CASE judged.window WHEN 'a later one' THEN judged.remaining
                                       WHEN 'the same' THEN least(w.remaining, judged.remaining)
                                       ELSE w.remaining END,
        resets_at = CASE judged.window WHEN 'a later one' THEN judged.resets_at
                                       WHEN 'the same' THEN greatest(w.resets_at, judged.resets_at)
                                       ELSE w.resets_at END,
        seen_at = CASE WHEN judged.window IN ('a later one', 'the same')
                       THEN judged.seen_at ELSE w.seen_at END,
        learned_at = CASE WHEN judged.window IN ('a later one', 'the same')
                          THEN statement_timestamp() ELSE w.learned_at END
    FROM judged, (SELECT set_config('synchronous_commit', 'off', true)) AS unflushed
    WHERE w.id = %(id)s
"""

# A request that was not sent after all.
CANCEL = """
    UPDATE trackers_window w SET under_way = array_remove(w.under_way, %(at)s::timestamptz)
    WHERE w.id = %(id)s
"""

# When somebody may ask again: soon where replies are awaited, else when the first window opens.
ROOM_AGAIN = f"""
    SELECT c.name, {ROOM} > 0 AND {HAS_TOKENS} AND {HAS_CREDIT}, greatest(
           CASE WHEN NOT {HAS_CREDIT} THEN p.stopped_until END,
           CASE WHEN {HAS_TOKENS} THEN NULL
                WHEN c.renewal_problem = '' THEN statement_timestamp() + interval '250 milliseconds'
                ELSE c.refreshing_until END,
           CASE WHEN {ROOM} > 0 THEN NULL
                WHEN {OVER} OR cardinality({LIVE}) > 0 AND w.remaining > cardinality(w.lost)
                THEN statement_timestamp() + interval '250 milliseconds'
                ELSE {OPENS} END) AS at,
           CASE WHEN NOT {HAS_CREDIT} THEN p.stopped_because
                WHEN {HAS_TOKENS} THEN ''
                ELSE coalesce(nullif(c.renewal_problem, ''), 'new tokens are on their way') END
    FROM {USABLE} WHERE {WHICH}
    ORDER BY at, c.name
"""


def given(
    endpoint_of: Mapping[str, str],
    *,
    only: int | None,
    without: Mapping[int, str],
    project: int | None = None,
) -> dict[str, Any]:
    return {
        "endpoints": json.dumps(dict(endpoint_of)),
        "except": list(without),
        "only": only,
        "project": project,
        "under_way_for": UNDER_WAY_FOR,
    }


def know(params: Mapping[str, Any]) -> bool:
    """Make the rows of windows that nobody knew of; whether there were any."""
    with cursor() as db:
        return db.execute(KNOW, params).rowcount > 0


def reserve(params: Mapping[str, Any]) -> tuple[Reservation, tuple[Any, ...]] | None:
    """Reserve a request with the credential that has the most room: the right, and its row."""
    with cursor() as db:
        row = db.execute(RESERVE, params).fetchone()
        if row is None:
            row = db.execute(RESERVE_AND_WAIT, params).fetchone()
    return None if row is None else (Reservation(row[0], row[1]), row[2:])


def settle(reservation: Reservation, window: WindowSeen | None) -> None:
    """The reply came, or will never come; `window` is what its headers said, None for nothing."""
    with cursor() as db:
        db.execute(
            SETTLE,
            {
                "id": reservation.window_id,
                "at": reservation.at,
                "limit": window and window.limit,
                "remaining": window and window.remaining,
                "resets_at": window and window.resets_at,
                "seen_at": window and window.seen_at,
                "under_way_for": UNDER_WAY_FOR,
            },
        )


def cancel(reservation: Reservation) -> None:
    """The request was not sent."""
    with cursor() as db:
        db.execute(CANCEL, {"id": reservation.window_id, "at": reservation.at})


def room_again(params: Mapping[str, Any]) -> list[tuple[str, bool, datetime, str]]:
    """Of each usable credential: its name, whether it has room, when to look again, and what else
    than its window keeps it from asking: its tokens, or its project's money."""
    with cursor() as db:
        return db.execute(ROOM_AGAIN, params).fetchall()
