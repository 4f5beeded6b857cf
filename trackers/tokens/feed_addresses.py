"""Secret addresses of feeds: creating, finding and revoking them; and when a feed last changed."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from trackers.tokens.models import FeedAddress
from trackers.tokens.secret import digest_of, new_secret
from tweetwatch.database import cursor

_FIND_STATE = """
    SELECT digest, changed_at FROM trackers_feedstate
    WHERE address_id = %(address)s AND source_id = %(source)s
"""
# HTTP dates have whole seconds, so two states within one second would look like one. Nothing is
# written once the address is revoked: its row is locked, or gone.
_STORE_STATE = """
    INSERT INTO trackers_feedstate AS s (address_id, source_id, digest, changed_at)
    SELECT follower_id, %(source)s, %(digest)s, %(now)s FROM trackers_feedaddress
    WHERE follower_id = %(address)s FOR KEY SHARE
    ON CONFLICT (address_id, source_id) DO UPDATE
    SET digest = excluded.digest,
        changed_at = greatest(excluded.changed_at,
                              date_trunc('second', s.changed_at) + interval '1 second')
    RETURNING changed_at
"""


def make_address(follower_id: int, *, now: datetime) -> str:
    """Create the follower's address; returns its secret, shown only once. Replaces an older one."""
    secret = new_secret()
    values = {"digest": digest_of(secret), "made_at": now}
    FeedAddress.objects.update_or_create(follower_id=follower_id, defaults=values)
    return secret


def revoke_address(follower_id: int) -> bool:
    return FeedAddress.objects.filter(follower_id=follower_id).delete()[0] > 0


def find_address(secret: str) -> FeedAddress | None:
    """The address of this secret, if it is a team's or an active person's."""
    whose = Q(follower__user__is_active=True) | Q(follower__team__isnull=False)
    addresses = FeedAddress.objects.filter(whose, digest=digest_of(secret))
    return addresses.select_related("follower__user", "follower__team").first()


def changed_at(address: FeedAddress, source_id: int, digest: str, *, now: datetime) -> datetime:
    """Since when the feed has had the content with this digest; the home's `source_id` is 0."""
    params = {"address": address.pk, "source": source_id, "digest": digest, "now": now}
    with cursor() as db:
        known = db.execute(_FIND_STATE, params).fetchone()
        if known and known[0] == digest:
            return known[1]
        row = db.execute(_STORE_STATE, params).fetchone()
    return row[0] if row else now
