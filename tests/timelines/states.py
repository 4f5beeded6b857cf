"""What the store has: a timeline as it is read, and all there is, to compare with what it had."""

from trackers.timelines import store
from trackers.timelines.models import Timeline, TimelineEntry
from trackers.timelines.store import Entry


def entries(*ids):
    return [Entry(id) for id in ids]


def ids(found):
    return [entry.id for entry in found]


def read_ids(name="home"):
    return ids(store.get(name, 0, 10_000))


def state():
    """All that there is, but for the numbers that it goes by."""
    contents = {
        timeline.id: (timeline.name, timeline.live, timeline.size, timeline.last_read_at, [], [])
        for timeline in Timeline.objects.order_by("name")
    }
    for row in TimelineEntry.objects.order_by("timeline_id", "seq", "entry_id"):
        *_, rows, dead = contents[row.timeline_id]
        rows.append((row.entry_id, row.secondary, row.metadata and bytes(row.metadata)))
        if row.dead_at:
            dead.append((row.entry_id, row.dead_at))
    return list(contents.values())
