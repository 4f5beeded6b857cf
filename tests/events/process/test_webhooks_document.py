"""The receiver of docs/webhooks.md, as people copy it, gets what is delivered."""

import json
import os
import re
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
import requests

from tests.conftest import PROJECT
from tests.events.delivering import attempts, delivering, publish, subscriber
from tests.x import wait_until
from trackers.events.delivery.models import Attempt
from trackers.events.subscribers.signing_keys import new_signing_key

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = (PROJECT / "docs" / "webhooks.md").read_text()
[PROGRAM] = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.fixture
def receiver(tmp_path):
    """It runs on a port of its own, and prints into a file."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    key, output = new_signing_key(), tmp_path / "output"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "SIGNING_KEY": key, "PORT": str(port)},
            stdout=out,
            stderr=subprocess.DEVNULL,
        )
    url = f"http://127.0.0.1:{port}/"
    wait_until(lambda: listens(port))
    yield SimpleNamespace(url=url, key=key, output=output)
    process.kill()
    process.wait()


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_the_documented_receiver_accepts_only_signed_requests(receiver):
    assert len(PROGRAM.strip().splitlines()) <= 27
    shop = subscriber("shop", receiver, signing=[new_signing_key(), receiver.key])

    with delivering():
        publish(3)
        wait_until(lambda: attempts(shop) == ["delivered"])
    forged = requests.post(receiver.url, json=[{"topic": "orders"}], timeout=60)

    told = [json.loads(line) for line in receiver.output.read_text().splitlines()]
    assert [one["url"][-2:] for one in told] == ["/1", "/2", "/3"]
    assert Attempt.objects.get().status == 204
    assert forged.status_code == 401
