"""Settings of `manage.py stream`: how X is asked, and how far holes extend beyond their ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.ingest.stream.gaps import Span


@dataclass(frozen=True, slots=True)
class RuleAsking:
    """How X is asked."""

    base_url: str
    timeout: timedelta
    silence: timedelta  # the longest wait for a line of the stream
    rules_every: timedelta  # how often its rules are read again while it is open


@dataclass(frozen=True, slots=True)
class Margins:
    # How much later than its id says a post may come, and how much later a poll fills a gap.
    late_by: timedelta
    acts_after: timedelta  # how long X takes before a rule or a connection brings everything

    def around(self, begins: datetime, ends: datetime) -> Span:
        return Span(begins - self.late_by, ends + self.acts_after)

    @property
    def polled_in(self) -> timedelta:
        """The time from the end of a hole until search shows all of it."""
        return self.acts_after + self.late_by


@dataclass(frozen=True, slots=True)
class Settings:
    asking: RuleAsking
    margins: Margins

    @property
    def lease(self) -> timedelta:
        """Longer than any request: the lease is not renewed while X is asked."""
        return max(2 * self.asking.timeout, self.asking.silence + self.asking.timeout)
