"""A backup is of the program alone, whatever else is in its database."""

import json
import subprocess
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.flows.backups import PROGRAMS, RESTORED, administrator, restore, tables
from tests.flows.conftest import Product
from trackers.backups.file import read_manifest
from tweetwatch.embedded.place import SUPERUSER

pytestmark = pytest.mark.django_db


def test_the_list_of_a_backup_is_the_catalogue_of_a_fresh_database(product, tmp_path):
    """Nothing is missing, and nothing of others is in it."""
    catalogue = set(product.sql(CATALOGUE))
    partitions = {name for (name,) in product.sql(PARTITIONS)}
    with beside_others(product.url, "tables of others"):
        file = product.manage_json("backup", tmp_path)["file"]
    chosen = set(map(str, read_manifest(Path(file)).entries))
    listing = subprocess.run(
        [PROGRAMS / "pg_restore", "--list", file], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    # `2922; 0 0 TABLE ATTACH public trackers_event_default tweetwatch`
    entries = [line.split() for line in listing if line.split(";")[0] in chosen]

    assert {(int(one[1]), int(one[2])) for one in entries if one[1] != "0"} == catalogue
    named = defaultdict(set)
    for entry in entries:
        named[" ".join(entry[3:5])].add(entry[-2])
    assert named["TABLE ATTACH"] == partitions
    kept = {name for (name,) in product.sql(ROWS_ARE_IN)}
    assert named["TABLE DATA"] == kept
    sequences = {name for (name,) in product.sql("SELECT sequencename FROM pg_sequences")}
    assert named["SEQUENCE SET"] == sequences


# Every object that pg_dump writes by itself; primary keys come with their constraints, columns and
# their defaults with the tables, a partition's foreign keys with its parent's.
CATALOGUE = """
    SELECT tableoid::int8, oid::int8 FROM pg_class
    WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace AND relkind <> 'c'
        AND oid NOT IN (SELECT conindid FROM pg_constraint)
    UNION ALL
    SELECT tableoid::int8, oid::int8 FROM pg_constraint
    WHERE oid >= 16384 AND (contype IN ('p', 'u', 'x') OR contype = 'f' AND conparentid = 0)
    UNION ALL
    SELECT tableoid::int8, oid::int8 FROM pg_proc WHERE oid >= 16384
    UNION ALL
    SELECT tableoid::int8, oid::int8 FROM pg_trigger WHERE oid >= 16384 AND NOT tgisinternal
    UNION ALL
    SELECT tableoid::int8, oid::int8 FROM pg_type
    WHERE oid >= 16384 AND typelem = 0
        AND (typrelid = 0 OR typrelid IN (SELECT oid FROM pg_class WHERE relkind = 'c'))
    UNION ALL
    SELECT tableoid::int8, oid::int8 FROM pg_namespace WHERE oid >= 16384
    UNION ALL
    SELECT tableoid::int8, oid::int8 FROM pg_extension WHERE oid >= 16384
"""
PARTITIONS = "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"
ROWS_ARE_IN = "SELECT relname FROM pg_class WHERE oid >= 16384 AND relkind = 'r'"


# What others do in a database that is also ours, what undoes it, and how it is named as left out.
BESIDE_OTHERS = {
    "an extension": (
        "CREATE EXTENSION vector; CREATE INDEX near ON trackers_author"
        " USING hnsw ((ARRAY[id]::float4[]::vector(1)) vector_l2_ops)",
        "DROP EXTENSION vector CASCADE",
        {"extension vector", "index near"},
    ),
    "a publication": (
        "CREATE PUBLICATION warehouse FOR ALL TABLES",
        "DROP PUBLICATION warehouse",
        {"publication warehouse"},
    ),
    "an event trigger": (
        "CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';"
        "CREATE EVENT TRIGGER note_ddl ON ddl_command_end EXECUTE FUNCTION note()",
        "DROP EVENT TRIGGER note_ddl; DROP FUNCTION note",
        {"event trigger note_ddl", "function note()"},
    ),
    "tables of others": (
        "CREATE SCHEMA monitoring; CREATE TABLE monitoring.seen (n int);"
        "CREATE TABLE notes (n serial, author bigint REFERENCES trackers_author);"
        "CREATE VIEW grafana AS SELECT id FROM trackers_tweet;"
        "CREATE TYPE mood AS ENUM ('well')",
        "DROP SCHEMA monitoring CASCADE; DROP TABLE notes; DROP VIEW grafana; DROP TYPE mood",
        {"schema monitoring", "table notes", "sequence notes_n_seq", "view grafana", "type mood"},
    ),
    "another owner": (
        f"ALTER DATABASE {{database}} OWNER TO {SUPERUSER};"
        "GRANT ALL ON SCHEMA public TO tweetwatch",
        "ALTER DATABASE {database} OWNER TO tweetwatch;"
        "REVOKE CREATE ON SCHEMA public FROM tweetwatch",
        set(),
    ),
}


# These are all there at the same time: a drill takes six commands.
TOGETHER = set(BESIDE_OTHERS) - {"another owner"}


@contextmanager
def beside_others(url, *subjects):
    database = urlsplit(url).path[1:]
    with ExitStack() as stack:
        for what in sorted(subjects):
            do, undo, _ = BESIDE_OTHERS[what]
            execute_as_administrator(database, do.format(database=database))
            stack.callback(execute_as_administrator, database, undo.format(database=database))
        yield


def execute_as_administrator(database, statement):
    with administrator(database) as admin:
        admin.execute(statement)


def rows_of_ours(url):
    with psycopg.connect(url) as db:
        names = db.execute(
            "SELECT relname FROM pg_class"
            " WHERE relkind = 'r' AND relname ~ '^(auth|django|trackers)_'"
        ).fetchall()
        return {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for (name,) in names}


@pytest.mark.parametrize(
    "subjects", [TOGETHER, {"another owner"}], ids=["what others made", "another owner"]
)
def test_the_drill_beside(subjects, product, elsewhere, tmp_path):
    product.sql(
        "INSERT INTO trackers_author (id, username, name, protected) VALUES (1, 'ada', '', false)"
    )
    expected = rows_of_ours(product.url)
    with beside_others(product.url, *subjects):
        made = product.manage("backup", tmp_path, "--json")
    assert made.returncode == 0, made.stderr
    made = json.loads(made.stdout)
    with ExitStack() as stack:
        if "another owner" in subjects:
            stack.enter_context(beside_others(elsewhere, "another owner"))
        if "an extension" in subjects:
            with administrator(RESTORED) as admin:
                admin.execute("CREATE EXTENSION vector")

        checked = restore(product, elsewhere, made["file"], "--check")
        assert checked.returncode == 0, checked.stderr
        assert tables(elsewhere) == 0
        for how in ((), ("--replace", "--no-input")):
            done = restore(product, elsewhere, made["file"], *how)
            assert done.returncode == 0, done.stderr
            # And the change log's user for what commands do.
            assert rows_of_ours(elsewhere) == expected | {"auth_user": 1}
        named = set().union(*(BESIDE_OTHERS[what][2] for what in subjects))
        assert set(made["left_out"]) == named
        new = Product(elsewhere, product.x, tmp_path)
        try:
            assert new.manage_json("track", "-", stdin="1\n")["tracked"] == 1
            assert new.manage("queue", "check").returncode == 0
        finally:
            new.end()
