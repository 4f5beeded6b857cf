"""A database that is put back holds what a fresh one holds."""

import psycopg
import pytest

from tests.databases import SCHEMA, SEQUENCES, TABLES, url_of

pytestmark = pytest.mark.django_db

USER = (
    "INSERT INTO auth_user (username, password, is_superuser, first_name, last_name, email,"
    " is_staff, is_active, date_joined) VALUES ('ada', '', true, '', '', '', true, true, now())"
)
WRITTEN = {
    "nothing": (),
    "rows": (USER, "INSERT INTO auth_user_groups (user_id, group_id) SELECT max(u.id), max(g.id)"
             " FROM auth_user u, auth_group g"),
    "the rows that migrations made": (
        "UPDATE trackers_queue SET failures = 7",
        "DELETE FROM auth_group_permissions",
        "DELETE FROM trackers_milestone",
        "INSERT INTO auth_group (name) VALUES ('more')",
    ),
    "what is rolled back, but for the sequence": (f"BEGIN; {USER}; ROLLBACK",),
    "an index": ("CREATE INDEX another ON auth_user (email)",),
    "a column": ("ALTER TABLE auth_user ALTER email TYPE text",),
    "a storage setting": ("ALTER TABLE auth_user SET (autovacuum_enabled = off)",),
    "statistics": (USER, "ANALYZE auth_user"),
    "a function": ("CREATE FUNCTION another() RETURNS int LANGUAGE sql AS 'SELECT 1'",),
    "a table less": ("DROP TABLE trackers_milestone CASCADE",),
    "a setting": ("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 999',"
                  " current_database()); END $$",),
}  # fmt: skip


def content(name):
    with psycopg.connect(url_of(name)) as db:
        rows = {
            table: sorted(map(repr, db.execute(f"SELECT * FROM {table}").fetchall()))
            for table, _ in db.execute(TABLES).fetchall()
        }
        return rows, sorted(db.execute(SEQUENCES).fetchall()), db.execute(SCHEMA).fetchone()


@pytest.mark.parametrize("what", WRITTEN)
def test_a_restored_database_equals_the_migrated_one(
    what, fresh_database, original, django_db_blocker
):
    with psycopg.connect(fresh_database, autocommit=True) as db:
        name = db.info.dbname
        for statement in WRITTEN[what]:
            db.execute(statement)

    # Twice: what was put back is itself written to and put back.
    with django_db_blocker.unblock():
        for statements in ((), WRITTEN[what]):
            with psycopg.connect(url_of(name), autocommit=True) as db:
                for statement in statements:
                    db.execute(statement)
            original.put_back(name)
            assert content(name) == content(original.template)


def test_restoring_disconnects_other_sessions(fresh_database, original, django_db_blocker):
    with psycopg.connect(fresh_database) as db, django_db_blocker.unblock():
        db.execute("LOCK trackers_queue")
        original.put_back(db.info.dbname)

        with pytest.raises(psycopg.OperationalError):
            db.execute("SELECT 1")
