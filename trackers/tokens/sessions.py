"""The sessions of one account: where it is logged in.

Django keeps no account beside a session, so all are read: for a person's act, not for each request.
"""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

_READ_AT_ONCE = 1000


def sessions_of(user: User) -> list[Session]:
    """Those that have not expired, the latest first."""
    valid = Session.objects.filter(expire_date__gt=timezone.now()).order_by("-expire_date")
    return [
        session
        for session in valid.iterator(chunk_size=_READ_AT_ONCE)
        if session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]


def end_sessions(user: User) -> int:
    """Log the account out everywhere; returns how many sessions it had."""
    keys = [session.session_key for session in sessions_of(user)]
    return Session.objects.filter(session_key__in=keys).delete()[0]
