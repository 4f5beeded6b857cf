"""The server's account and the application's role gain nothing from what they may do."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
import pytest

from tweetwatch.embedded.account import Account, act_as, read_own
from tweetwatch.embedded.postmaster import live_postmaster

from .conftest import REFUSED, poll

as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root has the server run under another account"
)


def as_superuser(url):
    (host,) = parse_qs(urlsplit(url).query)["host"]
    return psycopg.connect(
        host=unquote(host), user="postgres", dbname="tweetwatch", autocommit=True
    )


def facts(path):
    """All that an attacker may want to change, or to read in a copy."""
    found = path.stat()
    content = sorted(path.iterdir()) if path.is_dir() else path.read_text()
    return found.st_uid, found.st_gid, found.st_mode, content


@pytest.mark.parametrize(
    "statement",
    [
        "COPY (SELECT 1) TO PROGRAM 'cat'",
        "COPY (SELECT 1) TO '/tmp/planted-by-tweetwatch'",
        "ALTER SYSTEM SET log_min_messages = panic",
        "SET SESSION AUTHORIZATION postgres",
        "SET ROLE pg_execute_server_program",
    ],
)
def test_the_application_role_cannot_run_programs_or_write_files(shared_server, statement):
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege)

    with psycopg.connect(shared_server.url, autocommit=True) as connection, refused:
        connection.execute(statement)


def test_the_application_role_creates_tables_and_databases_and_reads_statistics(shared_server):
    with psycopg.connect(shared_server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.ours (id int)")
        connection.execute("DROP TABLE public.ours")
        connection.execute("CREATE DATABASE another")
        connection.execute("DROP DATABASE another WITH (FORCE)")
        connection.execute("CHECKPOINT")
        with as_superuser(shared_server.url):
            [query] = connection.execute(
                "SELECT count(query) FROM pg_stat_activity WHERE usename = 'postgres'"
                " AND backend_type = 'client backend' AND query NOT LIKE '<%'"
            ).fetchone()
    assert query


def test_the_application_role_drops_a_database_in_use_by_another_role(shared_server):
    """As autovacuum may be, which has no role at all."""
    with as_superuser(shared_server.url) as admin:
        admin.execute("CREATE ROLE other LOGIN")
    with psycopg.connect(shared_server.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE another")
        with psycopg.connect(shared_server.url, dbname="another", user="other") as at_work:
            connection.execute("DROP DATABASE another WITH (FORCE)")
            with pytest.raises(psycopg.OperationalError):
                at_work.execute("SELECT 1")
    with as_superuser(shared_server.url) as admin:
        admin.execute("DROP ROLE other")


@as_root
def test_root_follows_no_link_planted_by_the_account_of_the_server(server, tmp_path):
    server.user().url()
    data, postmaster = server.place.data, server.postmaster()
    victim = tmp_path / "victim"
    victim.write_text("root's own")
    before = facts(victim)
    planted = data / "tweetwatch.new", data / "tweetwatch.conf"
    (data / "tweetwatch.conf").unlink()
    for path in planted:
        path.symlink_to(victim)

    postmaster.kill()  # The keeper writes the settings and starts another.

    assert poll(lambda: server.postmaster() not in (None, postmaster))
    assert facts(victim) == before
    assert not any(path.is_symlink() for path in planted)


@as_root
def test_root_copies_nothing_that_the_account_of_the_server_cannot_read(server, tmp_path):
    first = server.user()
    first.url()
    first.leave()
    assert poll(server.is_over)
    secret = tmp_path / "shadow"
    secret.write_text("root:hash")
    secret.chmod(0o600)
    main = server.place.data / "postgresql.conf"
    main.unlink()
    main.symlink_to(secret)

    # On a busy machine the two seconds that it waits may be over before a postmaster has tried.
    assert poll(lambda: "Permission denied" in server.user(code=REFUSED).url())

    assert main.is_symlink()


@as_root
@pytest.mark.more
def test_a_link_is_not_used_as_folder_of_the_socket(server, tmp_path, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir(mode=0o777)
    temporary.chmod(0o1777)
    monkeypatch.setenv("TMPDIR", str(temporary))
    server.__init__(tmp_path / ("d" * 100) / "pg")
    first = server.user()
    url = first.url()
    socket_dir = Path(unquote(parse_qs(urlsplit(url).query)["host"][0]))
    assert socket_dir.parent == temporary
    first.leave()
    assert poll(server.is_over)
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o755)
    before = facts(victim)
    socket_dir.symlink_to(victim)

    assert "where the socket belongs, is not a folder: remove it" in server.user(code=REFUSED).url()

    assert facts(victim) == before


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_malformed_pid_file_names_no_postmaster(tmp_path, kind):
    path = tmp_path / "postmaster.pid"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/etc/passwd")

    assert live_postmaster(tmp_path) is None
    with pytest.raises(OSError, match=r"regular|symbolic"):
        read_own(path)


@pytest.fixture
def open_to_all():
    """`tmp_path` lies in folders that only their owner may enter."""
    with TemporaryDirectory(dir="/tmp") as path:
        folder = Path(path)
        folder.chmod(0o777)
        yield folder


@as_root
def test_a_child_acts_as_the_account_and_reports_its_errors(open_to_all):
    nobody = Account.named("nobody")

    act_as(nobody, (open_to_all / "made").touch)

    assert (open_to_all / "made").stat().st_uid == nobody.uid
    with pytest.raises(RuntimeError, match="Permission denied"):
        act_as(nobody, Path("/root/made").touch)
    assert os.geteuid() == 0
