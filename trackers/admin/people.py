"""Accounts and groups: an owner gives roles, but makes nobody an administrator; and sees, and ends,
what an account gets in by.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from importlib import import_module
from typing import Any

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.forms import ChoiceField, RadioSelect
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.formats import localize
from django.utils.html import format_html_join
from django.utils.module_loading import module_has_submodule
from django.utils.safestring import mark_safe

from trackers import roles
from trackers.acts import Done
from trackers.admin.actions import ActingAdmin
from trackers.alerts.models import AlertMail, AlertNotice
from trackers.history import in_admin
from trackers.roles import MAY, OWNER, ROLES, roles_of
from trackers.tokens import acts
from trackers.tokens.sessions import sessions_of

_LAST_ONE = (
    "This is the last account that can change accounts. Make another one an owner first, so that "
    "you do not lock yourselves out."
)

admin.site.unregister(User)
admin.site.unregister(Group)
# What django-allauth keeps is for the person alone: whoever could delete a factor of another
# account could log in as that one with its password.
for _app in apps.get_app_configs():
    if _app.name.startswith("allauth.") and module_has_submodule(_app.module, "admin"):
        # It registers its pages, if nobody has imported it yet.
        import_module(f"{_app.name}.admin")
for _model in [model for model in admin.site._registry if model.__module__.startswith("allauth.")]:
    admin.site.unregister(_model)


class _PersonForm(UserChangeForm):
    """The role is one choice; the other groups are the teams of a person."""

    role = ChoiceField(
        required=False,
        choices=[("", "No role: sees nothing"), *((one, f"{one}: {MAY[one]}") for one in ROLES)],
        widget=RadioSelect,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held = roles_of(self.instance) if self.instance.pk else []
        self.initial["role"] = held[-1] if held else ""
        if "groups" in self.fields:
            self.fields["groups"].label = "Teams"
            self.fields["groups"].queryset = Group.objects.exclude(name__in=ROLES)  # type: ignore[attr-defined]
            self.fields["groups"].help_text = "A team has a home that its members share."

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        user = self.instance
        if "groups" in cleaned:
            # The role's group is no choice here, and stays until the role is changed.
            stays = Q(name__in=ROLES, user=user.pk) | Q(pk__in=cleaned["groups"])
            cleaned["groups"] = Group.objects.filter(stays).distinct()
        is_superuser = cleaned.get("is_superuser", user.is_superuser)
        gives = is_superuser or cleaned.get("role") == OWNER
        if roles.is_last_giver(user) and not (gives and cleaned.get("is_active", user.is_active)):
            raise ValidationError(_LAST_ONE)
        return cleaned


@admin.register(User)
class PersonAdmin(ActingAdmin, UserAdmin):
    form = _PersonForm
    list_display = ("username", "role", "email", "is_active", "is_superuser", "last_login")
    list_filter = ("groups", "is_active", "is_superuser")
    actions = ("unlock", "revoke_all", "link")
    asks = {
        "revoke_all": "Revoke all API tokens and feed addresses of {}, and end all sessions? This "
        "cannot be undone. Only accounts that are not active cannot log in again."
    }
    change_form_template = "admin/trackers/user/change_form.html"
    _gets_in_by = ("tokens", "addresses", "sessions")

    @admin.display(description="role")
    def role(self, user: User) -> str:
        held = {group.name for group in user.groups.all()}
        return " and ".join(one for one in ROLES if one in held)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What goes with an account is its person's own: it is counted, and not named. The log of
        alerts is deleted by nobody, but goes along, too."""
        _, counts, lacking, protected = super().get_deleted_objects(objs, request)
        lacking -= {str(AlertNotice._meta.verbose_name), str(AlertMail._meta.verbose_name)}
        return [str(user) for user in objs], counts, lacking, protected

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Only administrators can make somebody an administrator."""
        fields = (*super().get_readonly_fields(request, obj), *self._gets_in_by)
        if request.user.is_superuser:
            return fields
        return (*fields, "is_superuser")

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_change_user(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        if obj is not None and roles.is_last_giver(obj):
            return False
        return super().has_delete_permission(request, obj) and _may_change_user(request, obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """The role goes with what it opens: the admin, for operators and owners."""
        user: User = form.instance
        held = roles_of(user)
        super().save_related(request, form, formsets, change)
        if "role" not in form.cleaned_data:
            return
        role = form.cleaned_data["role"]
        if role and [role] != held:
            roles.give(user, role)
        elif not role and (held or "is_superuser" in form.changed_data):
            # An administrator who is none any more has no use for the admin, either.
            roles.take(user)
        if user.is_superuser and not user.is_staff:
            user.is_staff = True
            user.save(update_fields=["is_staff"])

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """The role first; single permissions, of which there are hundreds, are for no person."""
        if obj is None:
            return super().get_fieldsets(request, obj)
        return [
            (None, {"fields": ("username", "password", "role", "groups")}),
            ("Person", {"fields": ("first_name", "last_name", "email")}),
            ("Account", {"fields": ("is_active", "is_superuser", "last_login", "date_joined")}),
            ("Gets in by", {"fields": self._gets_in_by}),
        ]

    @admin.display(description="API tokens")
    def tokens(self, user: User) -> str:
        valid = user.api_tokens.filter(revoked_at=None)
        return _in_lines(
            f"{token.name}, {token.scope}, made {_in_words(token.made_at)}, "
            + (f"last used {_in_words(token.used_at)}" if token.used_at else "never used")
            for token in valid
        )

    @admin.display(description="feed addresses")
    def addresses(self, user: User) -> str:
        addresses = user.feed_addresses.select_related("follower__user", "follower__team")
        return _in_lines(
            f"home of {address.follower}, made {_in_words(address.made_at)}"
            for address in addresses.order_by("made_at")
        )

    @admin.display(description="sessions")
    def sessions(self, user: User) -> str:
        return _in_lines(f"until {_in_words(session.expire_date)}" for session in sessions_of(user))

    @admin.action(
        description="Revoke all: tokens, feed addresses, sessions", permissions=["change"]
    )
    def revoke_all(self, request: HttpRequest, chosen: QuerySet[User]) -> Done:
        users = list(chosen)
        if not all(_may_change_user(request, user) for user in users):
            raise PermissionDenied("Only administrators can revoke what an administrator has.")
        actor = in_admin(request.user)
        return Done(" ".join(acts.revoke_all(user, actor).message for user in users))

    @admin.action(description="Make a link to set a password", permissions=["change"])
    def link(self, request: HttpRequest, chosen: QuerySet[User]) -> HttpResponse | None:
        """Renders the page, no redirect: a message would keep the link in a cookie."""
        users = list(chosen)
        if not all(_may_change_user(request, user) for user in users):
            raise PermissionDenied("Only administrators can let somebody in as an administrator.")
        here, actor = request.build_absolute_uri("/").rstrip("/"), in_admin(request.user)
        try:
            links = [(user, acts.make_link(user, actor, public_url=here)) for user in users]
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return None
        context = {**self.admin_site.each_context(request), "opts": self.opts, "links": links}
        answer = render(request, "admin/trackers/user/links.html", {**context, "title": "Links"})
        add_never_cache_headers(answer)
        return answer

    @admin.action(
        description="Unlock: forget failed logins",
        permissions=["change"],
    )
    def unlock(self, request: HttpRequest, chosen: QuerySet[User]) -> Done:
        return acts.unlock(list(chosen), in_admin(request.user))


def _in_lines(items: Iterable[str]) -> str:
    return format_html_join(mark_safe("<br>"), "{}", ((item,) for item in items)) or "none"


def _in_words(moment: datetime) -> str:
    return localize(timezone.localtime(moment))


def _may_change_user(request: HttpRequest, obj: User | None) -> bool:
    """Somebody who sets an administrator's password could log in as one."""
    return bool(request.user.is_superuser or obj is None or not obj.is_superuser)


@admin.register(Group)
class TeamAdmin(ActingAdmin, GroupAdmin):
    """A group is a team with a home, or a role, whose permissions `migrate` makes."""

    list_display = ("name", "is_role")
    readonly_fields = ("may",)

    def get_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        """What a role may do, in a sentence: its permissions are hundreds."""
        return ("name", "may") if _is_role_group(obj) else ("name", "permissions")

    @admin.display(description="may")
    def may(self, group: Group) -> str:
        return f"Whoever has this role {MAY[group.name]}"

    @admin.display(boolean=True, description="role")
    def is_role(self, group: Group) -> bool:
        return group.name in ROLES

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_change_permission(request, obj) and not _is_role_group(obj)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not _is_role_group(obj)


def _is_role_group(group: Group | None) -> bool:
    return group is not None and group.name in ROLES
