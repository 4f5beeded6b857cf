"""What is done to all homes, by whom and through whichever door: each act is in the history."""

from __future__ import annotations

from django.template.defaultfilters import pluralize

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.timelines import rebuilding, settings
from trackers.timelines.models import Watcher


def rebuild_all(actor: Actor) -> Done:
    """Have the workers rebuild the homes that were read lately; `count`: how many."""
    homes = rebuilding.rebuild_all(settings.current())
    history.record_many(actor, Watcher, homes, "Asked for homes to be rebuilt")
    return Done(
        f"The workers will rebuild {homes:,} home{pluralize(homes)}, the most recently viewed "
        "first. Until then homes are read from the sources.",
        homes,
    )
