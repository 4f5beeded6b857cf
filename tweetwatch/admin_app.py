"""Django's admin, imported with the pages: most commands and workers never show one of its."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks
from django.http import HttpRequest

_APPS_FIRST = ("trackers", "auth")


class AdminConfig(SimpleAdminConfig):
    """As Django's own, which would import every module of the admin at each start.

    `tweetwatch.urls` imports them, and the system check, which must not look at an empty site.
    """

    default_site = "tweetwatch.admin_app.Administration"

    def ready(self) -> None:
        checks.register(_check_admin, checks.Tags.admin)


class Administration(admin.AdminSite):
    """Lists what is set up first, then people, and what the libraries keep last."""

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        apps = super().get_app_list(request, app_label)
        last = len(_APPS_FIRST)
        place = {label: number for number, label in enumerate(_APPS_FIRST)}
        return sorted(apps, key=lambda app: place.get(app["app_label"], last))


def _check_admin(
    app_configs: Sequence[AppConfig] | None, **options: Any
) -> list[checks.CheckMessage]:
    admin.autodiscover()
    return [
        *check_dependencies(app_configs=app_configs, **options),
        *check_admin_app(app_configs=app_configs, **options),
    ]
