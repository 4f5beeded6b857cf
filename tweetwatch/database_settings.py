"""How connections to PostgreSQL are set: to the database, and to servers that are only read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# A page says that the database is away before its browser gives up on it (answers.js). While it
# is away, each request makes new attempts: older ones wait twice as long each time.
POOL = {"min_size": 1, "max_size": 8, "timeout": 3, "reconnect_timeout": 3}
# The primary is there all the same, so nobody waits for a standby.
STANDBY_POOL = {"min_size": 1, "max_size": 8, "timeout": 0.2, "reconnect_timeout": 1}


def connection_settings(
    database: Mapping[str, Any],
    *,
    statement_timeout: int,
    prepare: bool,
    pool: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Django's settings of a database; `statement_timeout` in seconds, 0: none."""
    of_url: Mapping[str, Any] = database.get("OPTIONS", {})
    options: dict[str, Any] = {
        **of_url,
        "application_name": "tweetwatch",
        # A silent database is a lost connection after some 15 s, rather than a worker that hangs.
        "connect_timeout": 5,
        "keepalives_idle": 5,
        "keepalives_interval": 5,
        "keepalives_count": 2,
        "tcp_user_timeout": 15000,
        # The claim and the save are planned once per connection instead of once per batch.
        "prepare_threshold": 3 if prepare else None,
        # A forgotten open transaction keeps VACUUM from removing dead rows; a page must not take
        # longer than people wait for it.
        "options": f"{of_url.get('options', '')} -c idle_in_transaction_session_timeout=60s"
        f" -c statement_timeout={statement_timeout}s".strip(),
    }
    if pool:
        options["pool"] = dict(pool)
    return {
        **database,
        "OPTIONS": options,
        # A plain connection for the life of the process; the pool keeps its own.
        "CONN_MAX_AGE": 0 if pool else None,
        "CONN_HEALTH_CHECKS": bool(pool),
        "ATOMIC_REQUESTS": False,
        "DISABLE_SERVER_SIDE_CURSORS": not prepare,
    }


def read_settings(
    database: Mapping[str, Any] | None,
    *,
    statement_timeout: int,
    prepare: bool,
    pool: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """Of a server that is only read, which refuses all else; None: there is none."""
    if database is None:
        return None
    settings = connection_settings(
        database, statement_timeout=statement_timeout, prepare=prepare, pool=pool
    )
    options = settings["OPTIONS"]
    options["options"] += " -c default_transaction_read_only=on"
    # Of several hosts any, unless the address says otherwise.
    options.setdefault("load_balance_hosts", "random")
    if pool:
        # What is asked of a connection first shows whether it is alive.
        options |= {"connect_timeout": 2, "tcp_user_timeout": 3000}
        settings["CONN_HEALTH_CHECKS"] = False
    return settings
