"""What the command line of the fake sets before the first request."""

import socket
import subprocess
import sys
from argparse import ArgumentParser

import pytest

from fakex.options import add_options
from fakex.tests.conftest import wait_until


def test_posts_can_appear_from_the_start_on(start_x):
    x = start_x("--posts", "50")

    wait_until(lambda: len(x.visible()) > 20)

    [flow] = x.fake("GET", "posts")["flows"]
    assert flow["rate"] == 50
    path = f"/2/users/{x.visible()[0]['author_id']}/tweets"
    assert x.get(path).json()["meta"]["result_count"] > 0


def test_the_clock_can_be_ahead_from_the_start_on(start_x):
    x = start_x("--ahead", "3600")

    clock = x.fake("GET", "clock")

    assert clock["ahead_s"] == 3600
    assert 0 <= clock["world_ms"] - clock["start_ms"] < 60_000


def refused(*options):
    command = [sys.executable, "-m", "fakex", *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--posts", "-1"),
        ("--posts", "nan"),
        ("--clock-speed", "0"),
        ("--ahead", "inf"),
        ("--port", "-1"),
        ("--port", "99999"),
        ("--port", "²"),
        ("--tweets", "-1"),
        ("--tweets", "many"),
        ("--start", "1e99"),
    ],
)
def test_invalid_options_are_refused_with_a_sentence(option, value, capsys):
    parser = ArgumentParser()
    add_options(parser)

    with pytest.raises(SystemExit) as ended:
        parser.parse_args([f"{option}={value}"])

    assert ended.value.code == 2
    assert f"argument {option}: {value} is not a" in capsys.readouterr().err


def test_a_port_in_use_and_a_file_without_a_key_are_refused_with_a_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, said = refused(f"--port={port}", "--tweets=10")
    assert status == 1
    assert f"cannot listen on 127.0.0.1, port {port}" in said

    assert refused("--port=0", f"--tls={tmp_path / 'none.pem'}")[0] == 1
