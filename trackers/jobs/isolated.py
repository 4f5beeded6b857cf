"""Keys that are set aside, of every queue: four workers in a row died over each."""

from __future__ import annotations

from trackers.jobs.queue import job_classes
from trackers.jobs.tables import on
from tweetwatch.database import cursor

# By their own index, which is almost always empty.
_ISOLATED_KEYS = (
    "SELECT key FROM {job} WHERE strikes >= {max_strikes} ORDER BY key DESC LIMIT %(most)s"
)


def isolated_by_queue(*, most: int) -> dict[str, list[int]]:
    """The newest of each queue that has any."""
    with cursor() as db:
        keys_by_queue = {
            name: [key for (key,) in db.execute(on(name, _ISOLATED_KEYS), {"most": most})]
            for name in sorted(job_classes())
        }
    return {name: keys for name, keys in keys_by_queue.items() if keys}
