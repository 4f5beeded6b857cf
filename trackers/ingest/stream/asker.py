"""The process that has the lease asks X about rules: one request at a time, each in its turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from trackers.ingest.stream import lease as stream_lease
from trackers.ingest.stream.lease import Lease
from trackers.ingest.stream.requests import Answer, Payer, ask_in_turn
from trackers.ingest.stream.settings import Settings


@dataclass(frozen=True, slots=True)
class Asker:
    settings: Settings
    lease: Lease
    who: Payer

    def ask(self, endpoint_of: Any, send: Callable[..., Answer], **given: Any) -> Answer:
        """Renews the lease first, so that each of several requests in a row has its full length."""
        stream_lease.renew(self.lease)
        asking = self.settings.asking
        how = {"base_url": asking.base_url, "timeout": asking.timeout}
        return ask_in_turn(endpoint_of, self.who, partial(send, **given, **how))
