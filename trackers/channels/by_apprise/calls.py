"""Sends by Apprise: a process for each message (`child`), which is ended when its time is over.

Call (an address of Apprise's and the message) ─> stdin ─> child ─> stdout ─> Answer
So Apprise's 40 MB and its replaced functions are gone once the message is, and one that hangs holds
up nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import trackers
from trackers.events.delivery.call import Answer, Call
from trackers.events.delivery.egress import Egress
from trackers.events.delivery.post import DeliveryProgress, status_sentence

logger = logging.getLogger(__name__)

# Processes at a time, and how long a message may wait for its turn; then it is tried again later.
_MOST_CHILDREN = 4
_NO_TURN = "It waits until other messages are sent."
_HERE = Path(trackers.__file__).resolve().parent.parent
# No proxies, no passwords by host, and none of our own settings.
_ENVIRONMENT = {"PATH": os.defpath, "NETRC": os.devnull, "HOME": "/nonexistent", "LANG": "C.UTF-8"}
_COMMAND = (sys.executable, "-E", "-s", "-m", "trackers.channels.by_apprise.child")


class AppriseCalls:
    def __init__(self, egress: Egress, *, connect: timedelta, total: timedelta, wait: timedelta):
        """`wait`: for a turn."""
        self._egress, self._connect = egress, connect
        self._total, self._wait = total.total_seconds(), wait.total_seconds()
        self._free = asyncio.Semaphore(_MOST_CHILDREN)

    async def call(self, call: Call, progress: DeliveryProgress) -> Answer:
        """Raises nothing, except when it is cancelled."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._wait):
                await self._free.acquire()
        except TimeoutError:
            return Answer(error=_NO_TURN)
        try:
            progress.connected = True
            heard = await self._send(call)
        except Exception as failure:
            # Without the exception's own words, which may have a secret address.
            logger.error("%s could not be sent by Apprise: %s", call.of, type(failure).__name__)
            heard = {"error": f"It could not be sent ({type(failure).__name__})."}
        finally:
            self._free.release()
        return _answer_of(heard, took=timedelta(seconds=time.monotonic() - began))

    async def _send(self, call: Call) -> dict[str, Any]:
        asked = {
            "url": call.url,
            "message": json.loads(call.body),
            "allowed": [str(network) for network in self._egress.allowed],
            "plain_http": self._egress.plain_http,
            "ca_file": self._egress.ca_file,
            "connect": self._connect.total_seconds(),
            "total": self._total,
        }
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(
            *_COMMAND, cwd=_HERE, env=_ENVIRONMENT,
            stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(self._total):
                printed, _ = await child.communicate(json.dumps(asked).encode())
        except TimeoutError:
            return {"error": f"There was no answer within {self._total:g} s."}
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        if not printed:
            return {"error": "Apprise ended without an answer."}
        heard: dict[str, Any] = json.loads(printed)
        return heard


def _answer_of(heard: dict[str, Any], *, took: timedelta) -> Answer:
    text = str(heard.get("text", "")).encode()
    if heard["error"]:
        return Answer(error=heard["error"], took=took, text=text)
    status: int = heard["status"]
    sentence = "" if 200 <= status < 300 else status_sentence(status)
    return Answer(status, sentence, took, heard["retry_after"], text)
