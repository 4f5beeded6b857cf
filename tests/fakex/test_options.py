"""What the command line of the fake sets before the first request."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fakex.conftest import wait_until


def test_posts_can_appear_from_the_start_on(start_x):
    x = start_x("--posts", "50")

    wait_until(lambda: len(x.visible()) > 20)

    [flow] = x.fake("GET", "posts")["flows"]
    assert flow["rate"] == 50
    path = f"/2/users/{x.visible()[0]['author_id']}/tweets"
    assert x.get(path).json()["meta"]["result_count"] > 0


def test_its_clock_can_be_ahead_from_the_start_on(start_x):
    x = start_x("--ahead", "3600")

    clock = x.fake("GET", "clock")

    assert clock["ahead_s"] == 3600
    assert 0 <= clock["world_ms"] - clock["start_ms"] < 60_000


@pytest.mark.parametrize("options", [("--posts", "-1"), ("--clock-speed", "0")])
def test_impossible_options_are_refused_in_a_sentence(options):
    command = [sys.executable, "-m", "trackers.fakex", "--port", "0", *options]

    ended = subprocess.run(command, capture_output=True, text=True, timeout=30)

    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
