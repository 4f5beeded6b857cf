"""The three roles: groups whose permissions are kept here, and restored by each `migrate`.

A viewer sees every page. An operator also runs what is watched. An owner also sets what that costs
and who may do what. Other groups are teams, and nothing here touches them.
"""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.apps.registry import Apps
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from django.db import transaction
from django.db.models import Q, QuerySet

Person = AbstractBaseUser | AnonymousUser
VIEWER, OPERATOR, OWNER = ROLES = ("viewer", "operator", "owner")
MAY = {
    VIEWER: "sees every page.",
    OPERATOR: "sees every page, and runs what is watched: tweets, tags, notes, sources, imports, "
    "subscribers, alert rules, channels and queues.",
    OWNER: "does what an operator does, and sets what it costs (intervals, projects, credentials) "
    "and who may do what (users, groups, API tokens).",
}
# Whose accounts may open the admin; the others use the pages.
IN_THE_ADMIN = (OPERATOR, OWNER)

_OURS = "trackers"
# What only an owner sees: who may come in from outside.
_HIDDEN = {
    *(
        "alertdigest",
        "alertpicture",
        "apitoken",
        "apiuse",
        "cacheentry",
        "feedaddress",
        "feedstate",
        "idempotencykey",
        "ownlimits",
        "overviewvisit",
        "pushkey",
        "quiethours",
        "timeformat",
        "wronglogin",
    ),
}
# What an operator adds, changes and deletes. What is in neither list is the owner's: what costs
# money (intervals, projects, credentials) and who may come in.
_RUN = {
    *("tweet", "author", "source", "import", "gap", "bulkact"),
    *("subscriber", "topic", "milestone", "column", "savedview", "follower", "follow"),
    *("tag", "tweettag", "note", "share"),
    "homesettings",
    "alertrule",
    "channel",
}
# The queues are there, and are paused and resumed.
_CHANGED = {"queue"}
# Of other applications, an owner's: accounts, groups, the history, failed tasks.
_OWNED_ELSEWHERE = {
    "auth": {"user", "group"},
    "admin": {"logentry"},
    "django_q": {"success", "failure", "schedule", "ormq"},
}
# Of these an operator sees what failed and what is planned.
_SEEN_ELSEWHERE = [f"view_{model}" for model in sorted(_OWNED_ELSEWHERE["django_q"])]
_ACTS = ("add", "change", "delete")
# Of these, it comes last in INSTALLED_APPS: once its permissions are made, all are.
_LAST_TO_MIGRATE = "django_q"


def _permissions_of(role: str) -> Q:
    """Which permissions the role has, as a filter on them."""
    seen = Q(content_type__app_label=_OURS, codename__startswith="view_")
    seen &= ~Q(content_type__model__in=_HIDDEN)
    if role == VIEWER:
        return seen
    if role == OPERATOR:
        run = [f"{act}_{model}" for model in sorted(_RUN) for act in _ACTS]
        run += [f"change_{model}" for model in sorted(_CHANGED)]
        tasks = Q(content_type__app_label="django_q", codename__in=_SEEN_ELSEWHERE)
        return seen | tasks | Q(content_type__app_label=_OURS, codename__in=run)
    everything = Q(content_type__app_label=_OURS)
    for label, models in _OWNED_ELSEWHERE.items():
        everything |= Q(content_type__app_label=label, content_type__model__in=models)
    return everything


def make_roles(sender: AppConfig, using: str, apps: Apps, **_: Any) -> None:
    """After each `migrate`, when the permissions of new models are there."""
    if sender.label != _LAST_TO_MIGRATE:
        return
    try:
        groups, permissions = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    except LookupError:
        # What was migrated is how to get rid of them.
        return
    with transaction.atomic(using=using):
        for role in ROLES:
            group, _is_new = groups.objects.using(using).get_or_create(name=role)
            group.permissions.set(permissions.objects.using(using).filter(_permissions_of(role)))


def roles_of(user: User) -> list[str]:
    """The least first."""
    has = set(user.groups.filter(name__in=ROLES).values_list("name", flat=True))
    return [role for role in ROLES if role in has]


def least_with(permission: str) -> str | None:
    """The least role that has this permission."""
    label, _, codename = permission.partition(".")
    has = set(
        Group.objects.filter(
            name__in=ROLES,
            permissions__codename=codename,
            permissions__content_type__app_label=label,
        ).values_list("name", flat=True)
    )
    return next((role for role in ROLES if role in has), None)


def give(user: User, role: str) -> None:
    """This role instead of any other; what else the account may do stays as it is."""
    with transaction.atomic():
        user.groups.remove(*Group.objects.filter(name__in=ROLES).exclude(name=role))
        user.groups.add(Group.objects.get(name=role))
        if user.is_staff != (opens := role in IN_THE_ADMIN or user.is_superuser):
            user.is_staff = opens
            user.save(update_fields=["is_staff"])


def take(user: User) -> None:
    """No role is left."""
    with transaction.atomic():
        user.groups.remove(*Group.objects.filter(name__in=ROLES))
        if user.is_staff and not user.is_superuser:
            user.is_staff = False
            user.save(update_fields=["is_staff"])


def teams() -> QuerySet[Group]:
    """All groups that are not roles: what is shared in one is seen by its members."""
    return Group.objects.exclude(name__in=ROLES)


def teams_of(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Group]:
    """By name."""
    return teams().filter(user=user.pk or 0).order_by("name", "pk")


def gives_access(user: User | AnonymousUser) -> bool:
    """An administrator, or whoever else may change accounts."""
    return user.has_perm("auth.change_user")


def those_who_give() -> QuerySet[User, str]:
    """Who can change accounts, by name: administrators first."""
    active = User.objects.filter(is_active=True)
    found = active.filter(Q(is_superuser=True) | Q(groups__name=OWNER)).distinct()
    return found.order_by("-is_superuser", "username").values_list("username", flat=True)


def is_last_giver(user: User) -> bool:
    """Whether nobody could change accounts any more without this one."""
    return list(those_who_give()[:2]) == [user.username]
