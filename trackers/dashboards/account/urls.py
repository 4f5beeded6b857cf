"""The addresses of logging in. Of django-allauth's pages these, under the names by which it looks
for them; signing up and changing e-mail addresses are not among them."""

from __future__ import annotations

from allauth.account import views as pages
from django.urls import path
from django.views.decorators.http import require_POST

from trackers.dashboards.account import views

urlpatterns = [
    path("login/", pages.login, name="account_login"),
    path("logout/", require_POST(pages.logout), name="account_logout"),
    path("account/", views.account, name="account"),
    path("account/password/", pages.password_change, name="account_change_password"),
    path("account/no-password/", views.no_password, name="account_set_password"),
    path("password/", views.with_mail(pages.password_reset), name="account_reset_password"),
    path("password/sent/", pages.password_reset_done, name="account_reset_password_done"),
    path(
        "password/done/",
        pages.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    # As `trackers.tokens.password_mail` writes it.
    path(
        "password/<str:uidb36>/<str:key>/",
        pages.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("login/inactive/", pages.account_inactive, name="account_inactive"),
]
