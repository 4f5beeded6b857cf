from __future__ import annotations

from allauth.account.views import logout, password_change
from django.contrib import admin
from django.urls import include, path
from django.views.decorators.http import require_POST

from trackers.dashboards.account import views as account

handler400 = "tweetwatch.http.origins.bad_request"
handler403 = "tweetwatch.http.bad_requests.permission_denied"
handler404 = "tweetwatch.http.bad_requests.not_found"

admin.autodiscover()

urlpatterns = [
    # Before the admin's own: there is one way to log in.
    path("admin/login/", account.admin_login),
    path("admin/logout/", require_POST(logout)),
    path("admin/password_change/", password_change),
    path("admin/", admin.site.urls),
    path("api/v1/", include("trackers.api.urls")),
    path("", include("trackers.dashboards.urls")),
]

# For every address but those of the API.
handler500 = "tweetwatch.http.failures.failure_page"
