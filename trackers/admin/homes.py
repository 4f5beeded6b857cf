"""How homes are stored: one row of settings, what each choice is good for, and how it goes."""

from __future__ import annotations

from django import forms
from django.conf import settings as django_settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.http import require_POST

from trackers.admin.one_row import OneRowAdmin
from trackers.history import in_admin
from trackers.timelines import settings
from trackers.timelines.acts import expire_unread, rebuild_all
from trackers.timelines.models import HomeSettings
from trackers.timelines.statistics import Timelines, timelines
from tweetwatch.amounts import amount


@admin.register(HomeSettings)
class HomeSettingsAdmin(OneRowAdmin):
    change_form_template = "admin/trackers/homesettings/change_form.html"

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        if db_field.name == "embed":
            return forms.MultipleChoiceField(
                choices=HomeSettings.Embed.choices,
                required=False,
                widget=forms.CheckboxSelectMultiple,
                label="Embedded",
                help_text=db_field.help_text,
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        context = {
            **(extra_context or {}),
            "figures": _storage_rows(timelines(now=timezone.now())),
            "may_change": self.has_change_permission(request),
        }
        return super().change_view(request, object_id, form_url, context)

    def save_model(
        self, request: HttpRequest, obj: HomeSettings, form: object, change: bool
    ) -> None:
        settings.save_home_settings(obj)

    def get_urls(self) -> list[URLPattern]:
        acts = [
            path(
                f"{act.__name__}/",
                self.admin_site.admin_view(require_POST(act)),
                name=f"trackers_homesettings_{act.__name__}",
            )
            for act in (self.rebuild, self.expire)
        ]
        return [*acts, *super().get_urls()]

    def rebuild(self, request: HttpRequest) -> HttpResponseRedirect:
        if not self.has_change_permission(request):
            raise PermissionDenied
        messages.success(request, rebuild_all(in_admin(request.user)).message)
        return redirect("admin:trackers_homesettings_change", 1)

    def expire(self, request: HttpRequest) -> HttpResponse | HttpResponseRedirect:
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.POST.get("sure") != "yes":
            context = {
                **self.admin_site.each_context(request),
                "title": "Expire now?",
                "opts": self.opts,
                "idle_days": django_settings.TIMELINE_IDLE_DAYS,
            }
            return render(request, "admin/trackers/homesettings/expire.html", context)
        messages.success(request, expire_unread(in_admin(request.user)).message)
        return redirect("admin:trackers_homesettings_change", 1)


def _storage_rows(figures: Timelines) -> list[tuple[str, str]]:
    hits = "none viewed" if figures.hit_rate is None else f"{figures.hit_rate:.1%}"
    return [
        (
            "Delivery lag",
            f"{figures.lag_seconds:.0f} s, {amount(figures.behind, 'origin')} waiting",
        ),
        ("Pages served from built homes", f"{hits}, today and yesterday"),
        ("Followers, and their follows", f"{figures.followers:,}, {figures.follows:,}"),
        *(
            (f"Homes by {key}", f"{count.built:,} built, {count.building:,} being built")
            for key, count in figures.homes.items()
        ),
        ("Timelines, and their entries", f"{figures.timelines:,}, {figures.entries:,}"),
        (
            "Size on disk",
            f"timelines {_megabytes(figures.store_bytes)}, "
            f"buckets {_megabytes(figures.bucket_bytes)}",
        ),
    ]


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"
