"""Pages that a standby may answer cannot write, also in tests that are one transaction."""

from __future__ import annotations

import pytest
from django.db import connection

from trackers.standbys import requests


def read_only(act, *, after=None):
    """What `standbys.reading.read` does on the connection that there is; it counts no statement."""
    db = connection.connection
    if db is None or not connection.in_atomic_block:
        return act(), None
    db.execute("SAVEPOINT only_reads")
    try:
        db.execute("SET LOCAL transaction_read_only = on")
        return act(), None
    finally:
        # Ends it: the transaction around may write again.
        if not db.closed:
            db.execute("ROLLBACK TO only_reads; RELEASE only_reads")


@pytest.fixture
def pages_only_read(monkeypatch):
    """Of those that a standby may answer none writes."""
    monkeypatch.setattr(requests, "is_read_elsewhere", lambda: True)
    monkeypatch.setattr(requests, "read", read_only)
