"""One process writes to the archive at a time, and only to an archive of this installation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

from trackers.tweets.archive.layout import OWNER_FILE, SCHEMA_VERSION
from trackers.tweets.archive.store import Store
from tweetwatch.database import cursor

# Renewed with every row group, which takes about a second.
_LASTS = "60 s"
_CLAIM = f"""
    INSERT INTO trackers_installation AS held (id, known_as, writer, writes_until)
    VALUES (1, gen_random_uuid(), %(writer)s, now() + interval '{_LASTS}')
    ON CONFLICT (id) DO UPDATE SET writer = excluded.writer, writes_until = excluded.writes_until
    WHERE held.writes_until IS NULL OR held.writes_until < now()
    RETURNING known_as
"""
_RENEW = f"""
    UPDATE trackers_installation SET writes_until = now() + interval '{_LASTS}'
    WHERE writer = %(writer)s
"""
_RELEASE = """
    UPDATE trackers_installation SET writer = NULL, writes_until = NULL WHERE writer = %(writer)s
"""
_NEW_NAME = """
    UPDATE trackers_installation
    SET formerly = formerly || known_as, known_as = gen_random_uuid(),
        writer = NULL, writes_until = NULL
"""


class ArchiveError(RuntimeError):
    """Nothing was archived; the message says why, and what to do."""


class LeaseLostError(ArchiveError):
    """Another process writes by now."""


@dataclass(frozen=True, slots=True)
class Lease:
    writer: UUID
    installation: UUID

    def renew(self) -> None:
        """In a transaction: nobody else writes until it ends."""
        with cursor() as db:
            if not db.execute(_RENEW, {"writer": self.writer}).rowcount:
                raise LeaseLostError("Another process writes to the archive by now.")


@contextmanager
def writing_to(store: Store, *, as_owner: bool = True) -> Iterator[Lease | None]:
    """The lease on writing to this archive; None: another process has it. ArchiveError: it is
    another installation's, unless that is to change."""
    writer = uuid4()
    with cursor() as db:
        row = db.execute(_CLAIM, {"writer": writer}).fetchone()
    if row is None:
        yield None
        return
    try:
        if as_owner:
            _refuse_others(store, row[0])
        yield Lease(writer, row[0])
    finally:
        with cursor() as db:
            db.execute(_RELEASE, {"writer": writer})


def rename_installation() -> None:
    """After a restore: the archive of the installation that was backed up may still be written to
    by that one."""
    with cursor() as db:
        db.execute(_NEW_NAME)


def owner_line(installation: UUID) -> bytes:
    return json.dumps({"installation": str(installation), "schema": SCHEMA_VERSION}).encode()


def _refuse_others(store: Store, installation: UUID) -> None:
    line = owner_line(installation)
    if store.create(OWNER_FILE, line) or store.read(OWNER_FILE) == line:
        return
    raise ArchiveError(
        f"{store} belongs to another installation, or to this one before a restore, so nothing is "
        "written to it. If that one writes to it no more: manage.py archive adopt."
    )
