"""The sessions of one account: where it is logged in.

Django keeps no account beside a session, so all are read: for a person's act, not for each request.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from trackers.tokens.session_store import SessionStore

_READ_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """A login that has not ended: since when, from which address, with which browser."""

    id: int
    since: datetime
    address: str
    browser: str
    is_here: bool


def _logins() -> QuerySet[Any]:
    # By its name: without django-allauth (`manage.py bus`) its module cannot be imported.
    return apps.get_model("usersessions", "UserSession").objects.all()


def logins_of(user: User, *, here: str | None) -> list[LoggedIn]:
    """Those that django-allauth noted, the latest first. `here`: the key of the asking session."""
    valid = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    rows = _logins().filter(user_id=user.pk, session_key__in=valid).order_by("-created_at")
    return [
        LoggedIn(row.pk, row.created_at, row.ip, row.user_agent, row.session_key == here)
        for row in rows
    ]


def end_other_logins(user: User, *, here: str | None) -> int:
    """Returns how many there were."""
    keys = [one.session_key for one in sessions_of(user) if one.session_key != here]
    return _end(keys)


def end_login(user: User, id: int) -> int:
    """That of `LoggedIn.id`; returns how many there were."""
    return _end(
        list(_logins().filter(user_id=user.pk, pk=id).values_list("session_key", flat=True))
    )


def _end(keys: list[str]) -> int:
    _logins().filter(session_key__in=keys).delete()
    return Session.objects.filter(session_key__in=keys).delete()[0]


def sessions_of(user: User) -> list[Session]:
    """Those that have not expired, the latest first."""
    valid = Session.objects.filter(expire_date__gt=timezone.now()).order_by("-expire_date")
    store = SessionStore()
    return [
        session
        for session in valid.iterator(chunk_size=_READ_AT_ONCE)
        if store.decode(session.session_data).get(SESSION_KEY) == str(user.pk)
    ]


def end_sessions(user: User) -> int:
    """Log the account out everywhere; returns how many sessions it had."""
    return _end([session.session_key for session in sessions_of(user)])
