"""The addresses of logging in. Of django-allauth's pages these, under the names by which it looks
for them; signing up is not among them, and e-mail addresses change by pages of our own."""

from __future__ import annotations

from allauth.account import views as pages
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as passkeys
from allauth.socialaccount.providers.openid_connect import views as oidc
from django.urls import path
from django.views.decorators.http import require_POST

from trackers.dashboards.account import browsers, own, preferences, quiet_hours, times, views
from trackers.dashboards.account.factors import keeps_needed
from trackers.dashboards.account.provider import few_at_once
from tweetwatch.http.compression import shows_secret

urlpatterns = [
    path("login/", pages.login, name="account_login"),
    path("logout/", require_POST(pages.logout), name="account_logout"),
    path("account/", views.account, name="account"),
    path("account/password/", pages.password_change, name="account_change_password"),
    path("account/times/", times.times, name="account_times"),
    path("account/pages/", preferences.pages, name="account_pages"),
    path("account/quiet/", quiet_hours.quiet, name="account_quiet"),
    path("account/theme", preferences.theme, name="account_theme"),
    path("account/logins/end", views.end_other_logins, name="account_end_logins"),
    path("account/person/", own.person, name="account_person"),
    # As `trackers.tokens.address_mail` writes it.
    path("account/email/<str:signed>/", own.confirm_address, name="account_confirm_address"),
    path("account/browsers/key", browsers.push_key, name="push_key"),
    path("account/browsers/add", browsers.add, name="browser_add"),
    path("push-worker.js", browsers.worker, name="push_worker"),
    path("manifest.webmanifest", browsers.manifest, name="manifest"),
    path("account/<str:what>/<int:id>/end", own.end_one, name="account_end"),
    path("account/stored", own.stored, name="account_stored"),
    path("account/close/", own.close, name="account_close"),
    path("account/closed/", own.closed, name="account_closed"),
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
    # A provider of logins
    path(
        "login/with/<str:provider_id>/",
        few_at_once(require_POST(oidc.login)),
        name="openid_connect_login",
    ),
    path(
        "login/with/<str:provider_id>/callback/",
        few_at_once(oidc.callback),
        name="openid_connect_callback",
    ),
    path("login/cancelled/", views.login_cancelled, name="socialaccount_login_cancelled"),
    path("account/provider/", views.unlink_provider, name="account_unlink_provider"),
    # Second factors
    path("login/factor/", factors.authenticate, name="mfa_authenticate"),
    path("login/passkey/", passkeys.login_webauthn, name="mfa_login_webauthn"),
    path("account/confirm/", pages.reauthenticate, name="account_reauthenticate"),
    path("account/confirm/code/", factors.reauthenticate, name="mfa_reauthenticate"),
    path(
        "account/confirm/passkey/",
        passkeys.reauthenticate_webauthn,
        name="mfa_reauthenticate_webauthn",
    ),
    path("account/factors/", factors.index, name="mfa_index"),
    path("account/factors/app/", shows_secret(app.activate_totp), name="mfa_activate_totp"),
    path("account/factors/app/remove/", app.deactivate_totp, name="mfa_deactivate_totp"),
    path(
        "account/factors/codes/",
        shows_secret(codes.view_recovery_codes),
        name="mfa_view_recovery_codes",
    ),
    path(
        "account/factors/codes/new/",
        codes.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path("account/factors/passkeys/", passkeys.list_webauthn, name="mfa_list_webauthn"),
    path("account/factors/passkeys/add/", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path("account/factors/passkeys/<int:pk>/", passkeys.edit_webauthn, name="mfa_edit_webauthn"),
    path(
        "account/factors/passkeys/<int:pk>/remove/",
        keeps_needed(passkeys.remove_webauthn),
        name="mfa_remove_webauthn",
    ),
]
