"""The demo takes port 8000, another when that is in use, or the one that it is told."""

import io
import socket
import subprocess
from contextlib import suppress

import pytest
from django.core.management.base import CommandError

from tests.conftest import PROJECT
from trackers.management.commands.demo import DEFAULT_PORT, Command, is_listening


def test_another_port_is_used_when_the_default_is_in_use():
    out = io.StringIO()
    with socket.socket() as other:
        # If somebody else has it already, that serves as well.
        with suppress(OSError):
            other.bind(("127.0.0.1", DEFAULT_PORT))
            other.listen()
        port = Command(stdout=out).port_of_pages(None)

    assert port != DEFAULT_PORT
    assert f"Port {DEFAULT_PORT} is in use, so the pages are on port {port}." in out.getvalue()
    assert not is_listening(port)


def test_a_requested_port_is_used_or_refused_with_what_to_do():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(CommandError, match=rf"Port {taken} cannot be used .*make demo PORT="):
            Command().port_of_pages(taken)
    assert Command().port_of_pages(taken) == taken


@pytest.mark.parametrize(("given", "flag"), [((), None), (("PORT=9000",), "--port=9000")])
def test_make_passes_the_port_on(given, flag):
    done = subprocess.run(
        ["make", "--dry-run", "--old-file=.venv/made", "demo", *given],
        cwd=PROJECT, capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip

    [command] = [line.split() for line in done.splitlines() if "manage.py demo" in line]
    assert command[2:] == (["demo", flag] if flag else ["demo"])
