"""Backups: one file with a whole database, and a database made of one.

database ─ pg_dump, one snapshot ─┬─> nameless file ─> checksum, manifest ─> named
         └ rows counted there ────┘
file ─ manifest, keys, checksum ─> pg_restore ─ SQL ─> psql, one transaction ─> rows counted
     ─> migrated ─> queues mended
"""
