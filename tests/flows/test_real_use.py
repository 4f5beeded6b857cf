"""A new user's way: the commands of the README's "Real use", word by word, against the fake X."""

import os
import pty
import re
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress

import psycopg
import pytest
import requests

from tests.chaos.ground import wait_until
from tests.conftest import PROJECT

pytestmark = pytest.mark.django_db
PASSWORD = "correct-horse-battery"
# What the commands ask a person for, in this order.
ANSWERS = (
    ("Username", "ada"), ("Email", ""), ("Password:", PASSWORD), ("Password (again):", PASSWORD),
    ("bearer", "a-bearer-token-of-the-fake"),
)  # fmt: skip
LEFT_BEHIND = shutil.ignore_patterns(".git", "var", ".venv", ".env", "staticfiles", ".*_cache")
NOT_TOLD = ("SECRET_KEY", "FIELD_KEYS", "HTTPS", "ALLOWED_HOSTS", "DATABASE_POOL")


@pytest.fixture
def project(tmp_path):
    """A clone in which the packages are there already, so that make has no need of the network."""
    made = shutil.copytree(PROJECT, tmp_path / "tweetwatch", ignore=LEFT_BEHIND)
    (made / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (made / ".venv" / name).symlink_to(os.path.join(sys.prefix, name))
    os.utime(made / "requirements.txt", (0, 0))
    (made / ".venv" / "made").touch()
    return made


def section(tweet):
    """The README's words, but for ports that are free here, and a tweet that the fake knows."""
    text = re.search(r"^## Real use\n(.*?)^## ", (PROJECT / "README.md").read_text(), re.S | re.M)[
        1
    ]
    for port in set(re.findall(r"127\.0\.0\.1:(\d+)", text)):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free.getsockname()[1]}")
    return re.sub(r"status/\d+", f"status/{tweet}", text)


def at_a_terminal(block, project, env, answers=()):
    """Run it as a person does, who answers what is asked; what the terminal showed."""
    terminal, end = pty.openpty()
    command = ["setsid", "--ctty", "--wait", "bash", "-euc", block]
    process = subprocess.Popen(command, cwd=project, env=env, stdin=end, stdout=end, stderr=end)
    os.close(end)
    displayed, read, waiting = "", 0, list(answers)
    # The last process that has the other end leaves.
    with suppress(OSError):
        while more := os.read(terminal, 65536):
            displayed += more.decode(errors="replace")
            if waiting and (at := displayed.find(waiting[0][0], read)) >= 0:
                read = at + len(waiting[0][0])
                os.write(terminal, f"{waiting.pop(0)[1]}\n".encode())
    os.close(terminal)
    assert process.wait(60) == 0, displayed
    assert waiting == [], displayed
    return displayed


def log_in(address):
    session = requests.Session()
    session.trust_env = False
    page = session.get(address, timeout=60)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
    given = {"csrfmiddlewaretoken": token, "username": "ada", "password": PASSWORD, "next": "/"}
    return session, session.post(page.url, given, headers={"Referer": address}, timeout=60)


def test_following_the_readme_gets_a_tweet_checked(fakex, fresh_database, project, tmp_path):
    [tweet] = fakex.ids(1)
    fakex.put(f"tweets/{tweet}", {"state": "live"})
    text = section(tweet)
    set_up, to_watch = re.findall(r"```sh\n(.*?)```", text, re.S)
    services = re.findall(r"^\| `([^`]+)` \|", text, re.M)
    env = {name: value for name, value in os.environ.items() if name not in NOT_TOLD}
    env |= {"X_API_BASE_URL": fakex.url, "DATABASE_URL": fresh_database, "WORKERS": "1"}

    at_a_terminal(set_up, project, env, ANSWERS)
    with ExitStack() as running, psycopg.connect(fresh_database, autocommit=True) as db:
        processes = []
        for number, command in enumerate(services):
            log = running.enter_context((tmp_path / f"{number}.log").open("wb"))
            process = subprocess.Popen(
                shlex.split(command), cwd=project, env=env, stdout=log, stderr=log
            )
            running.callback(process.wait, 60)
            running.callback(process.terminate)
            processes.append(process)
        at_a_terminal(to_watch, project, env)

        looked_up = "SELECT count(*) FROM trackers_tweet WHERE id = %s AND measurements > 0"
        wait_until(
            lambda: db.execute(looked_up, [tweet]).fetchone()[0], within=90, what="a look-up"
        )
        pages, bus = re.findall(r"127\.0\.0\.1:\d+", " ".join(services))
        for address in (pages, bus):
            wait_until(lambda at=address: is_up(at), within=60, what=f"{address} answers")
        session, page = log_in(re.search(r"http://127\.0\.0\.1:\d+/", text)[0])
        tweets = re.search(r'<a href="([^"]+)"[^>]*>Tweets</a>', page.text)[1]
        style = re.search(r'<link rel="stylesheet" href="([^"]+)"', page.text)[1]
        shown = session.get(f"http://{pages}{tweets}", timeout=60).text
        assert f"/tweets/{tweet}/" in shown
        assert session.get(f"http://{pages}{style}", timeout=60).status_code == 200
        assert requests.get(f"http://{bus}/health", timeout=60).json() == {}
        assert [one.poll() for one in processes] == [None] * len(services)

    assert [one.returncode for one in processes] == [0] * len(services)


def is_up(address):
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0
