"""Closes an account: the row stays, since the history of acts and what teams have lead to it, but
names nobody, and lets nobody in.

ended: tokens, feed addresses, shares, logins, factors, links ─> deleted: what is the person's alone
─> the account is anonymous
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import F, Func, Value
from django.db.models.functions import Lower
from django.utils import timezone

from trackers.alerts.models import AlertDigest, AlertMail, AlertNotice, AlertRule, AlertsRead
from trackers.channels.models import Channel, QuietHours
from trackers.saved_views.models import SavedView
from trackers.shares.models import Share
from trackers.timelines.models import Follower
from trackers.tokens import factors, sessions, ways_in
from trackers.tokens.models import ApiToken, FeedAddress, Preferences, TimeFormat


def anonymise(user: User) -> None:
    """In the caller's transaction."""
    _end_what_lets_in(user)
    _delete_what_is_theirs(user)
    if user.email:
        _erase_address(user.email, f"closed-{user.pk}@account.invalid")
    user.groups.clear()
    user.user_permissions.clear()
    user.username = f"closed-{user.pk}"
    user.first_name = user.last_name = user.email = ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login = None
    user.set_unusable_password()
    user.save()
    of_users = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=of_users, object_id=str(user.pk)).update(
        object_repr=user.username
    )


def _end_what_lets_in(user: User) -> None:
    now = timezone.now()
    ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=now)
    FeedAddress.objects.filter(user=user).delete()
    Share.objects.filter(made_by=user, ended_at=None).update(ended_at=now)
    sessions.end_sessions(user)
    factors.remove_factors(user)
    ways_in.unlink(user)


def _delete_what_is_theirs(user: User) -> None:
    """What is shared with a team stays."""
    AlertDigest.objects.filter(user=user).delete()
    AlertRule.objects.filter(owner=user).delete()
    AlertNotice.objects.filter(owner=user).delete()
    Channel.objects.own_of(user).delete()
    AlertsRead.objects.filter(user=user).delete()
    QuietHours.objects.filter(user=user).delete()
    TimeFormat.objects.filter(user=user).delete()
    Preferences.objects.filter(user=user).delete()
    SavedView.objects.filter(user=user, team=None).delete()
    Follower.objects.filter(user=user).delete()
    for app, model in (
        ("trackers", "Column"),
        ("trackers", "OverviewVisit"),
        ("usersessions", "UserSession"),
        ("account", "EmailAddress"),
    ):
        # By their names: they stand above this part, or are not there for `manage.py bus`.
        rows: Any = apps.get_model(app, model).objects
        rows.filter(user_id=user.pk).delete()


def _erase_address(email: str, placeholder: str) -> None:
    """Rules no longer write to it, and the log of e-mails does not name it."""
    mails = AlertMail.objects.alias(low=Lower("to")).filter(low=email.lower())
    mails.filter(state=AlertMail.State.WAITING).delete()
    mails.update(to=placeholder)
    without = Func(F("to"), Value(email), function="array_remove")
    AlertRule.objects.filter(to__contains=[email]).update(to=without)
