"""Who leaves a team loses the feed address of its home, and does not get it back by joining again.

Until then each request is checked (`feed_addresses.find_address`). A signal, since Django's admin
changes who is in which group.
"""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import Group, User
from django.db.models import Q
from django.db.models.signals import m2m_changed
from django.dispatch import receiver

from trackers.tokens.models import FeedAddress


@receiver(m2m_changed, sender=User.groups.through)
def end_addresses(
    instance: User | Group, action: str, pk_set: Collection[int] | None, **_: object
) -> None:
    """Of people who leave a group, or of a group that people leave."""
    if action not in ("pre_remove", "pre_clear"):
        return
    if isinstance(instance, Group):
        left, others = Q(follower__team=instance), "user__in"
    else:
        left, others = Q(user=instance, follower__team__isnull=False), "follower__team__in"
    if pk_set is not None:
        left &= Q((others, pk_set))
    FeedAddress.objects.filter(left).delete()
