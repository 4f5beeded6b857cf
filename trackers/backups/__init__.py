"""Backups: what is ours in a database in one file, and a database restored from one.

database ─ pg_dump, one snapshot ─┬─> nameless file ─> checksum, manifest ─> named
         └ rows counted there ────┘
file ─ manifest, keys, checksum ─> pg_restore ─ our entries ─> psql, one transaction ─> rows counted
     ─> migrated ─> queues repaired
"""
