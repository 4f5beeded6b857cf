"""The row of the connection to X's filtered stream."""

from __future__ import annotations

from django.db import models


class Stream(models.Model):
    """The connection to X's filtered stream: one row, written by its one process."""

    class State(models.TextChoices):
        CONNECTING = "connecting"
        OPEN = "open"
        WAITING = "waiting", "Waiting to reconnect"
        STOPPED = "stopped"

    name = models.CharField(max_length=20, primary_key=True, default="filtered")
    # Empty until a `stream` process first has the lease.
    mark = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        help_text="Marks this installation's rules at X, in their tags.",
    )
    state = models.CharField(max_length=10, choices=State, default=State.STOPPED)
    because = models.CharField(max_length=300, blank=True)
    credential = models.CharField(max_length=60, blank=True)
    host = models.CharField(max_length=255, blank=True)
    pid = models.IntegerField(null=True)
    # Fences off a process that was thought dead: the newer one has another number.
    lease = models.BigIntegerField(null=True)
    lease_until = models.DateTimeField(null=True)

    state_since = models.DateTimeField(null=True)
    connected_at = models.DateTimeField(null=True)
    # The same by X's clock, in whole seconds, by which X's own list of connections names it; null
    # when X sent no Date, and once X was asked to end it.
    opened_at = models.DateTimeField(null=True)
    heard_at = models.DateTimeField(
        null=True, help_text="When the last line or keep-alive arrived."
    )
    next_try_at = models.DateTimeField(null=True)
    # Everything that X sent up to here is stored; the next hole begins here.
    stored_until = models.DateTimeField(null=True)
    connects = models.BigIntegerField(default=0)
    lines = models.BigIntegerField(default=0)
    duplicates = models.BigIntegerField(default=0)
    garbled = models.BigIntegerField(default=0)
    skew = models.DurationField(null=True)
    # When X's rules were last read, by X's clock: sources that had a rule then had it up to then.
    rules_read_at = models.DateTimeField(null=True)
    rules_of_others = models.IntegerField(
        default=0,
        db_default=0,
        help_text="Rules at X for the same app that are not ours. X bills their posts as well.",
    )

    def __str__(self) -> str:
        return f"{self.name} stream: {self.get_state_display()}"
