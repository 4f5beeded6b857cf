"""What is done to homes, by whom and through whichever door: each act is in the history."""

from __future__ import annotations

from collections.abc import Sequence

from django.template.defaultfilters import pluralize

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.timelines import feeds, rebuilding, settings
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


def rebuild_soon(watchers: Sequence[Watcher], actor: Actor) -> Done:
    """Have the workers rebuild the homes of these; `count`: how many."""
    homes = rebuilding.rebuild_soon(watcher.pk for watcher in watchers)
    history.record(actor, watchers, "Asked for its home to be rebuilt")
    return Done(
        f"The workers will rebuild {homes:,} home{pluralize(homes)}. Until then homes are read "
        "from the sources.",
        homes,
    )


def expire(watchers: Sequence[Watcher], actor: Actor) -> Done:
    """Delete what is built of these homes; `count`: how many."""
    homes = len(watchers)
    for watcher in sorted(watchers, key=lambda watcher: watcher.pk):
        feeds.drop(watcher.pk)
    history.record(actor, watchers, "Expired its home")
    return Done(
        f"Expired {homes:,} home{pluralize(homes)}. Each is rebuilt when it is next viewed; until "
        "then it is read from the sources.",
        homes,
    )
