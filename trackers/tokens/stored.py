"""All that is stored about a person, as plain data. No secret is in it: of what lets somebody in,
its name and its times; of a share not the key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db.models import Q

from trackers.alerts.models import AlertDigest, AlertNotice, AlertRule
from trackers.channels.models import Channel
from trackers.notes.models import Note
from trackers.saved_views.models import SavedView
from trackers.shares.models import Share
from trackers.timelines.models import Follow
from trackers.tokens.sessions import logins_of
from tweetwatch.clock_times import iso

# Of the newest lines of the history.
_MAX_ACTS = 10_000
_MAX_ALERTS = 1_000


def stored_about(user: User) -> dict[str, Any]:
    """Times are ISO 8601 in UTC."""
    return {
        "account": {
            **_picked(user, "username", "first_name", "last_name", "email", "is_active"),
            **_picked(user, "is_staff", "is_superuser", "date_joined", "last_login"),
            "has_password": user.has_usable_password(),
            "roles_and_teams": [group.name for group in user.groups.order_by("name")],
        },
        "times": _first(getattr(user, "time_format", None), "zone", "dates", "hours", "week_start"),
        "pages": _first(getattr(user, "preferences", None), "theme", "density", "start"),
        "quiet_hours": _first(getattr(user, "quiet_hours", None), "begins", "ends"),
        "logins": [_picked(one, "since", "address", "browser") for one in logins_of(user, here="")],
        "factors": _rows(
            _others("mfa", "Authenticator", user), "type", "created_at", "last_used_at"
        ),
        "linked_logins": _rows(
            _others("socialaccount", "SocialAccount", user), "provider", "uid", "date_joined"
        ),
        "api_tokens": _rows(
            user.api_tokens.all(), "name", "scope", "made_at", "used_at", "revoked_at"
        ),
        "feed_addresses": [
            {"home": str(one.follower), "made_at": iso(one.made_at)}
            for one in user.feed_addresses.select_related("follower__user", "follower__team")
        ],
        "shares": _rows(
            Share.objects.filter(made_by=user),
            *("kind", "of", "title", "with_notes", "made_at", "ends_at", "ended_at"),
        ),
        "digest": _first(
            AlertDigest.objects.filter(user=user).first(),
            *("every", "weekday", "hour", "report", "views", "channels", "when_quiet"),
        ),
        "alerts_read": _first(getattr(user, "alerts_read", None), "place"),
        "alert_rules": _rows(
            AlertRule.objects.filter(Q(made_by=user) | Q(owner=user)),
            *("name", "kind", "is_own", "to", "to_owner", "made_at"),
        ),
        "own_alerts": _rows(
            AlertNotice.objects.filter(owner=user).order_by("-pk")[:_MAX_ALERTS],
            *("rule_name", "at", "lines"),
        ),
        "channels": _rows(
            Channel.objects.filter(Q(made_by=user) | Q(owner=user)).defer("address"),
            *("name", "kind", "place", "is_own", "made_at"),
        ),
        "saved_views": _rows(SavedView.objects.filter(user=user), "name", "query", "position"),
        "columns": [str(column) for column in user.columns.select_related("source", "team")],
        "follows": _rows(Follow.objects.filter(follower__user=user), "origin_id", "followed_at"),
        "notes": _rows(
            Note.objects.filter(written_by=user), "kind", "key", "text", "at", "written_at"
        ),
        "overview_last_seen": _first(_others("trackers", "OverviewVisit", user).first(), "seen_at"),
        "acts": [
            {"at": iso(line.action_time), "on": line.object_repr, "what": str(line)}
            for line in LogEntry.objects.filter(user=user).order_by("-pk")[:_MAX_ACTS]
        ],
    }


def _others(app: str, model: str, user: User) -> Any:
    """Rows of what stands above this part, or is not there for `manage.py bus`."""
    return apps.get_model(app, model).objects.filter(user_id=user.pk)


def _rows(rows: Iterable[Any], *names: str) -> list[dict[str, Any]]:
    return [_picked(row, *names) for row in rows]


def _first(row: Any, *names: str) -> dict[str, Any] | None:
    return None if row is None else _picked(row, *names)


def _picked(row: Any, *names: str) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in names}
    return {
        name: iso(value) if hasattr(value, "astimezone") else value
        for name, value in values.items()
    }
