"""What is done to homes, by whom and through whichever door: each act is in the history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import BinaryIO

from django.conf import settings as django_settings

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.ingest.sources.models import Source
from trackers.jobs import ordinary
from trackers.timelines import homes, rebuilding, settings, store
from trackers.timelines.models import Follower, Timeline
from trackers.tweets.models import Author
from tweetwatch.amounts import amount

_EXPIRY_TASKS = ("trackers.tasks.drop_idle_homes", "trackers.tasks.expire_timelines")


def follow(follower: Follower, origin: Source | Author, actor: Actor) -> Done:
    """Bring what the source yields, or the account posts, into the home.

    LookupError: there is no such source. An account need not be known here.
    """
    if homes.follow(follower.pk, **_ids(origin)):
        history.record(actor, [follower], f"Followed {origin}")
    return Done(f"{_who_follows(follower)} {origin} from now on.")


def unfollow(follower: Follower, origin: Source | Author, actor: Actor) -> Done:
    """Take its tweets out of the home, unless others bring them too."""
    if homes.unfollow(follower.pk, **_ids(origin)):
        history.record(actor, [follower], f"Unfollowed {origin}")
    return Done(f"{_who_follows(follower)} {origin} no longer.")


def _ids(origin: Source | Author) -> dict[str, int]:
    return {"source_id" if isinstance(origin, Source) else "author_id": origin.pk}


def _who_follows(follower: Follower) -> str:
    return f"{follower} follows" if follower.team_id else "You follow"


def rebuild_all(actor: Actor) -> Done:
    """Have the workers rebuild the homes that were read lately; `count`: how many."""
    homes = rebuilding.rebuild_all(settings.home_settings())
    history.record_many(actor, Follower, homes, "Asked for homes to be rebuilt")
    return Done(
        f"The workers will rebuild {amount(homes, 'home')}, the most recently viewed "
        "first. Until then homes are read from the sources.",
        homes,
    )


def rebuild_now(followers: Sequence[Follower], actor: Actor) -> Done:
    """Rebuild the homes of these at once, in this process."""
    for follower in followers:
        homes.rebuild(follower.pk)
    count = len(followers)
    history.record_many(actor, Follower, count, "Rebuilt homes")
    return Done(f"Rebuilt {count} homes.", count)


def expire_idle(idle: timedelta, actor: Actor) -> Done:
    """Delete the timelines that nobody read for this long, at once; `count`: how many."""
    count = store.expire(idle)
    history.record_many(actor, Timeline, count, "Expired", flag=history.DELETION)
    return Done(
        f"Expired {count} timelines not read for {idle / timedelta(days=1):g} days. Their "
        f"tombstones are kept for another {django_settings.TIMELINE_TOMBSTONE_DAYS} days.",
        count,
    )


def restore(file: str | BinaryIO, actor: Actor) -> Done:
    """Load a snapshot. Raises SnapshotError and OSError: nothing is changed then."""
    count = store.restore(file)
    history.record_many(actor, Timeline, count, "Restored from a snapshot")
    return Done(f"Restored {count} timelines, except what was deleted since.", count)


def expire_unread(actor: Actor) -> Done:
    """Have the workers delete what nobody has read for a long time."""
    for task in _EXPIRY_TASKS:
        ordinary.run_soon(task)
    history.record(
        actor, [settings.home_settings()], "Asked for unread homes and timelines to expire"
    )
    return Done(
        "Homes and timelines that have not been read for a long time will expire within half a "
        "minute."
    )


def rebuild_soon(followers: Sequence[Follower], actor: Actor) -> Done:
    """Have the workers rebuild the homes of these; `count`: how many."""
    homes = rebuilding.rebuild_soon(follower.pk for follower in followers)
    history.record(actor, followers, "Asked for its home to be rebuilt")
    return Done(
        f"The workers will rebuild {amount(homes, 'home')}. Until then homes are read "
        "from the sources.",
        homes,
    )


def expire(followers: Sequence[Follower], actor: Actor) -> Done:
    """Delete what is built of these homes; `count`: how many."""
    count = len(followers)
    for follower in sorted(followers, key=lambda follower: follower.pk):
        homes.drop_home(follower.pk)
    history.record(actor, followers, "Expired its home")
    return Done(
        f"Expired {amount(count, 'home')}. Each is rebuilt when it is next viewed; until "
        "then it is read from the sources.",
        count,
    )
