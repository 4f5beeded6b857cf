"""Accounts and groups: an owner gives roles, but makes nobody an administrator."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest

from trackers.acts import Done
from trackers.admin.actions import ActingAdmin
from trackers.history import in_admin
from trackers.roles import IN_THE_ADMIN, MAY, ROLES, roles_of
from trackers.tokens import acts

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class PersonAdmin(ActingAdmin, UserAdmin):
    list_display = ("username", "role", "email", "is_active", "is_superuser", "last_login")
    list_filter = ("groups", "is_active", "is_superuser")
    actions = ("unlock",)

    @admin.display(description="role")
    def role(self, user: User) -> str:
        held = {group.name for group in user.groups.all()}
        return " and ".join(one for one in ROLES if one in held)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Only administrators can make somebody an administrator."""
        fields = super().get_readonly_fields(request, obj)
        if request.user.is_superuser:
            return fields
        return (*fields, "is_superuser", "user_permissions")

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_change_user(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_change_user(request, obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """An operator or owner can open the admin, even if nobody ticked the box."""
        super().save_related(request, form, formsets, change)
        user: User = form.instance
        if not user.is_staff and set(roles_of(user)) & set(IN_THE_ADMIN):
            user.is_staff = True
            user.save(update_fields=["is_staff"])
            self.message_user(request, "This role uses the admin, so “staff status” has been set.")

    @admin.action(
        description="Unlock: forget failed logins",
        permissions=["change"],
    )
    def unlock(self, request: HttpRequest, chosen: QuerySet[User]) -> Done:
        return acts.unlock(list(chosen), in_admin(request.user))


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
