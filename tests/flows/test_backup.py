"""Backups: made while workers work, restored elsewhere, compared tweet by tweet; or nothing."""

import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlsplit

import psutil
import psycopg
import pytest
from cryptography.fernet import Fernet
from django.db import connection

from tests.conftest import PROJECT
from tests.databases import OURS, url_of
from tests.flows.backups import PROGRAMS, RESTORED, administrator, restore, tables
from tests.flows.conftest import Product, lives, wait_until
from trackers.backups.file import read_manifest
from trackers.tweets.export import export_samples

pytestmark = pytest.mark.django_db

COUNT = 300


def at_work(product):
    """Tweets whose figures are measured every second or two."""
    product.give_credential()
    product.x.put("world", {"engagement": "busy", "deleted": 0, "protected": 0, "suspended": 0})
    product.call("interval", "set", "60d=1s", "--yes")
    product.sql("UPDATE trackers_queue SET buffer_ttl = '0.2s'")
    ids = product.x.ids(COUNT)
    product.track(ids)
    product.start_cluster()
    product.wait_for("worker")
    wait_until(lambda: product.recorded() > 3 * COUNT, what="measurements are recorded")
    return ids


def histories(product):
    """What is stored of each tweet: by the time of a sample, its figures."""
    collected = defaultdict(dict)
    with product.inside():
        lines = b"".join(export_samples([], format="jsonl")).splitlines()
    for line in lines:
        sample = json.loads(line)
        tweet, at = sample.pop("tweet_id"), sample.pop("taken_at")
        # A run of the same figures may go on.
        del sample["measured_until"], sample["measurements"]
        collected[int(tweet)][at] = sample
    return collected


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
    # Other tests check backups on this server at the same time.
    name = bulky.value("SELECT 'restore_check_' || md5(%s)", RESTORED)
    copies = "SELECT count(*) FROM pg_stat_progress_copy WHERE datname = %s"
    wait_until(lambda: bulky.value(copies, name), what="rows are copied into a scratch database")
    # It shall not be done before the other one has begun.
    running.send_signal(signal.SIGSTOP)
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
