"""How a session's account is read: with how its person wants times and pages, and how far they have
read the log of alerts, in one statement."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User


class AccountBackend(ModelBackend):
    """Django's own, but for that."""

    def get_user(self, user_id: int) -> User | None:
        users = User.objects.select_related("time_format", "preferences", "alerts_read")
        user = users.filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
