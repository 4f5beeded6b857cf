"""Secret addresses of feeds: creating, finding and revoking them; and when a feed last changed."""

from __future__ import annotations

from datetime import datetime

from trackers.timelines.followers import may_use
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
    SELECT id, %(source)s, %(digest)s, %(now)s FROM trackers_feedaddress
    WHERE id = %(address)s FOR KEY SHARE
    ON CONFLICT (address_id, source_id) DO UPDATE
    SET digest = excluded.digest,
        changed_at = greatest(excluded.changed_at,
                              date_trunc('second', s.changed_at) + interval '1 second')
    RETURNING changed_at
"""


def make_address(follower_id: int, user_id: int, *, now: datetime) -> str:
    """Create the person's address of this home, in place of an older one; returns its secret, shown
    only once."""
    secret = new_secret()
    values = {"digest": digest_of(secret), "made_at": now}
    FeedAddress.objects.update_or_create(follower_id=follower_id, user_id=user_id, defaults=values)
    return secret


def find_address(secret: str, permission: str) -> FeedAddress | None:
    """The address of this secret, if its person may still use that home, and has the permission of
    the page that shows the same."""
    addresses = FeedAddress.objects.filter(digest=digest_of(secret))
    address = addresses.select_related("user", "follower__user", "follower__team").first()
    if address is None or not address.user.has_perm(permission):
        return None
    return address if may_use(address.user, address.follower_id) else None


def changed_at(address: FeedAddress, source_id: int, digest: str, *, now: datetime) -> datetime:
    """Since when the feed has had the content with this digest; `source_id`: as in `FeedState`."""
    params = {"address": address.pk, "source": source_id, "digest": digest, "now": now}
    with cursor() as db:
        known = db.execute(_FIND_STATE, params).fetchone()
        if known and known[0] == digest:
            return known[1]
        row = db.execute(_STORE_STATE, params).fetchone()
    return row[0] if row else now
