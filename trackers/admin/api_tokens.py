"""Tokens of the API: created here and shown once, revoked here.

Those of the bus are for `manage.py bus_token`.
"""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelChoiceField, TypedChoiceField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from trackers.acts import Done
from trackers.admin.actions import ActingAdmin
from trackers.history import in_admin
from trackers.tokens.acts import revoke_tokens
from trackers.tokens.models import SCOPES, ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(ActingAdmin):
    fields = ("user", "name", "scope")
    list_display = ("name", "user", "scope", "made_at", "used_at", "revoked_at")
    list_select_related = ("user",)
    never_filtered_by = ("digest", "begins")
    search_fields = ("name", "user__username")
    actions = ("revoke",)
    asks = {"revoke": "Revoke {}? Programs that use them will be refused. This cannot be undone."}

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        tokens = super().get_queryset(request).exclude(user=None)
        return tokens if request.user.is_superuser else tokens.filter(user=cast(User, request.user))

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.delete_apitoken")

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        """Only superusers make tokens for others: a token may do what its user may."""
        if db_field.name == "user" and not request.user.is_superuser:
            kwargs["queryset"] = User.objects.filter(username=request.user.get_username())
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_choice_field(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> TypedChoiceField | None:
        if db_field.name == "scope":
            kwargs["choices"] = [(scope.value, scope.label) for scope in SCOPES]
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: ApiToken, form: object, change: bool) -> None:
        request.__dict__["told_once"] = obj.save_with_secret()

    def response_add(
        self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Renders the page, no redirect: a message would keep the secret in a cookie."""
        context = {**self.admin_site.each_context(request), "opts": self.opts, "token": obj}
        context |= {"title": "A token", "secret": request.__dict__.pop("told_once")}
        return render(request, "admin/trackers/apitoken/told.html", context)

    def changeform_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return never_cache(super().changeform_view)(*args, **kwargs)

    @admin.action(description="Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> Done:
        return revoke_tokens(list(chosen), in_admin(request.user))
