"""Follow and unfollow: who watches what, and what that does to the homes that are built.

Locks: the source's or the author's row, so that nothing of it is stored meanwhile; the origin's
mark, so that nothing of it is delivered; the follower's homes; the origin. So a store, a delivery
or a rebuild comes either before all of this or after it.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef

from trackers.arrivals.models import Arrival, Origin, TimelineDelivery
from trackers.ingest.sources.models import Source
from trackers.jobs import queue
from trackers.timelines.homes.strategies import all_strategies
from trackers.timelines.models import DeliveryMark, Follow, Follower
from trackers.timelines.settings import home_settings
from trackers.tweets.models import Author
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

_MARK = """
    INSERT INTO trackers_deliverymark (origin_id, number, reach) VALUES (%(origin)s, 0, NULL)
    ON CONFLICT (origin_id) DO NOTHING
"""
_LOCK = "SELECT FROM trackers_deliverymark WHERE origin_id = %(origin)s FOR UPDATE"
_FOLLOW = """
    INSERT INTO trackers_follow (follower_id, origin_id, followed_at)
    VALUES (%(follower)s, %(origin)s, now()) ON CONFLICT DO NOTHING
"""
# Past the limit, a new follower with a lower id pushes another one out of reach, who gets this
# origin on read from then on. No follower comes into reach: it would lack all earlier deliveries.
_NARROW = """
    UPDATE trackers_deliverymark SET reach = least(reach, (
        SELECT follower_id FROM trackers_follow WHERE origin_id = %(origin)s
        ORDER BY follower_id OFFSET %(limit)s::int - 1 LIMIT 1))
    WHERE origin_id = %(origin)s
"""


def origin_of(source_id: int | None, author_id: int | None) -> int:
    """The id of the origin: a source's own id, or an account's, negated."""
    ids = [id for id in (source_id, author_id) if id is not None]
    if len(ids) != 1:
        raise ValueError("Either a source is followed, or an account.")
    if not 0 < ids[0] <= LARGEST_ID:
        raise ValueError(f"{ids[0]} is not an id.")
    return ids[0] if author_id is None else -ids[0]


def follow(follower_id: int, *, source_id: int | None = None, author_id: int | None = None) -> bool:
    """Bring what the source yields, or the account posts, into the home; False: already followed.

    An account that nobody polls can be followed. LookupError: no such follower, or no such source.
    """
    origin = origin_of(source_id, author_id)
    with transaction.atomic():
        if not Follower.objects.filter(pk=follower_id).exists():
            raise LookupError(f"There is no follower {follower_id}.")
        if not _held(origin):
            raise LookupError(f"There is no source {source_id}.")
        params = {"follower": follower_id, "origin": origin}
        settings = home_settings()
        with cursor() as db:
            db.execute(_MARK, {"origin": origin})
            db.execute(_LOCK, {"origin": origin})
            if not db.execute(_FOLLOW, params).rowcount:
                return False
            if settings.fanout_limit:
                db.execute(_NARROW, {"origin": origin, "limit": settings.fanout_limit})
        # From now on its arrivals are numbered; the backfill puts in what came before.
        Origin.objects.get_or_create(pk=origin)
        for strategy in all_strategies(settings):
            strategy.followed(follower_id, origin)
    return True


def unfollow(
    follower_id: int, *, source_id: int | None = None, author_id: int | None = None
) -> bool:
    """Take its tweets out of the home, unless other origins bring them too; False: it was not
    followed. Nothing is deleted for good: following it again brings all of it back."""
    origin = origin_of(source_id, author_id)
    with transaction.atomic():
        _held(origin)
        with cursor() as db:
            db.execute(_LOCK, {"origin": origin})
        if not Follow.objects.filter(follower_id=follower_id, origin_id=origin).delete()[0]:
            return False
        for strategy in all_strategies(home_settings()):
            strategy.unfollowed(follower_id, origin)
        if not Follow.objects.filter(origin_id=origin).exists():
            _delete_origin(origin)
    return True


def delete_removed_origin(origin: int, *, deadline: Deadline) -> bool:
    """If the source no longer exists, make all followers unfollow it; False: time was up first."""
    if origin < 0 or Source.objects.filter(pk=origin).exists():
        return True
    followers = Follow.objects.filter(origin_id=origin).order_by("follower_id")
    for follower_id in followers.values_list("follower_id", flat=True):
        unfollow(follower_id, source_id=origin)
        if deadline.is_over:
            return not followers.exists()
    return True


def prune_unfollowed() -> int:
    """Delete origins without followers, left when followers were deleted; return how many."""
    followed = Follow.objects.filter(origin_id=OuterRef("pk"))
    unfollowed = list(Origin.objects.filter(~Exists(followed)).order_by("pk")[:1000])
    for origin in unfollowed:
        with transaction.atomic():
            _held(origin.pk)
            with cursor() as db:
                db.execute(_LOCK, {"origin": origin.pk})
            if not Follow.objects.filter(origin_id=origin.pk).exists():
                _delete_origin(origin.pk)
    return len(unfollowed)


def _held(origin: int) -> bool:
    """Lock the row that storing arrivals of the origin locks; False: there is no such source."""
    if origin > 0:
        rows = Source.objects.select_for_update(no_key=True).filter(pk=origin)
        return rows.values_list("pk", flat=True).first() is not None
    # A new author: X will be asked for the name.
    Author.objects.bulk_create([Author(pk=-origin)], ignore_conflicts=True)
    Author.objects.select_for_update(no_key=True).get(pk=-origin)
    return True


def _delete_origin(origin: int) -> None:
    """Delete an origin that nobody follows, with all that is stored of it: its arrivals are no
    longer recorded."""
    Origin.objects.filter(pk=origin).delete()
    queue.remove_keys(TimelineDelivery.queue, [origin])
    Arrival.objects.filter(origin_id=origin).delete()
    DeliveryMark.objects.filter(pk=origin).delete()
