"""What a tweet gained, as a cell of its row: how much, and in which time that was measured."""

from __future__ import annotations

from html import escape

from django.utils.safestring import SafeString

from trackers.dashboards.words import counted, exactly, lasting, signed
from trackers.tweets.movers.models import Mover


def gain_cell(mover: Mover) -> SafeString:
    """ "+115 in 58 min" and "119 an hour"; the title has both times."""
    title = f"measured from {exactly(mover.since)} to {exactly(mover.until)}"
    return SafeString(
        f'<td class="figure gain" data-label="Gain" title="{escape(title)}">'
        f'<data value="{mover.gain}">{signed(mover.gain)}</data>'
        f'<small class="soft">in {lasting(mover.lasted)}, {an_hour(mover.velocity)} an hour</small>'
        "</td>"
    )


def an_hour(velocity: float) -> str:
    return counted(round(velocity)) if velocity >= 10 else f"{velocity:.1f}"
