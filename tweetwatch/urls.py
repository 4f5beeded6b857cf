from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", include("trackers.api.urls")),
    path("", include("trackers.dashboards.urls")),
]
