"""X's rules while the stream is open: read again now and then, and whenever sources change.

Someone else may delete a rule, and X does not tell those who listen.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from datetime import timedelta

from trackers.ingest.stream.backoff import Backoff, trouble_of
from trackers.ingest.stream.listeners import Listeners, WantedRule, wanted_now
from trackers.ingest.stream.requests import RECHECK_INTERVAL, Asker, NoTurnError
from trackers.ingest.stream.rules import synchronise
from trackers.ingest.stream.synced import Synced
from trackers.xapi.errors import XError

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class RuleSync:
    asker: Asker
    wanted: dict[int, WantedRule]  # from when X was last asked
    synced: Synced  # from then as well
    _backoff: Backoff = field(default_factory=Backoff)
    _due: float = 0.0
    _not_before: float = 0.0

    def __post_init__(self) -> None:
        self._plan_next()

    @property
    def listeners(self) -> Listeners:
        return self.synced.listeners(self.wanted)

    @property
    def looked_at_every(self) -> timedelta:
        return min(RECHECK_INTERVAL, self.asker.settings.asking.rules_every)

    def look(self) -> bool:
        """When it is time, make X's rules match the sources; returns whether they were read.

        NoTurnError when the credential may no longer be used.
        """
        now, wanted = time.monotonic(), wanted_now()
        has_changed = _values(wanted) != _values(self.wanted)
        if now < self._not_before or (now < self._due and not has_changed):
            return False
        try:
            self.synced = synchronise(wanted, self.asker, self.synced)
        except (XError, NoTurnError) as trouble:
            if isinstance(trouble, NoTurnError) and trouble.may_end_early:
                raise
            logger.warning("the rules of the stream could not be read: %s", trouble)
            self._put_off(trouble)
            return False
        self.wanted = wanted
        self._plan_next()
        return True

    def _plan_next(self) -> None:
        """When to ask X again: sooner if rules are still missing, later if X was in trouble."""
        if self.synced.trouble:
            self._put_off(self.synced.trouble)
            return
        self._backoff.reset()
        is_behind = any(not self.synced.has_verdict(source) for source in self.wanted)
        wait = RECHECK_INTERVAL if is_behind else self.asker.settings.asking.rules_every
        self._due = time.monotonic() + wait.total_seconds()

    def _put_off(self, trouble: XError | NoTurnError) -> None:
        if isinstance(trouble, NoTurnError):
            wait = trouble.wait
        else:
            wait = self._backoff.next(trouble_of(trouble))
        self._due = self._not_before = time.monotonic() + wait.total_seconds()


def _values(wanted: dict[int, WantedRule]) -> dict[int, str]:
    return {source: one.value for source, one in wanted.items()}
