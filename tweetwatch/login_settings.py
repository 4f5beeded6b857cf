"""How django-allauth is set: what of the settings about logging in is the same everywhere."""

from __future__ import annotations

ACCOUNT_ADAPTER = "trackers.dashboards.account.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "trackers.dashboards.account.forms.LoginForm",
    "change_password": "trackers.dashboards.account.forms.PasswordForm",
    "reset_password": "trackers.dashboards.account.forms.ResetForm",
    "reset_password_from_key": "trackers.dashboards.account.forms.NewPasswordForm",
}
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
# Its own would make rows of e-mail addresses, of which nothing else knows.
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "django.contrib.auth.tokens.PasswordResetTokenGenerator"  # noqa: S105
ACCOUNT_SESSION_REMEMBER = True
# Wrong passwords are ours to slow down, and lock nobody out (trackers/tokens/wrong_logins.py).
ACCOUNT_RATE_LIMITS = {
    **dict.fromkeys(("login", "login_failed", "change_password", "reauthenticate")),
    "reset_password": "20/m/ip,5/h/key",
}
MFA_ADAPTER = "trackers.dashboards.account.factors.FactorAdapter"
MFA_FORMS = {
    "authenticate": "trackers.dashboards.account.factors.CodeForm",
    "reauthenticate": "trackers.dashboards.account.factors.ConfirmingCodeForm",
    "activate_totp": "trackers.dashboards.account.factors.AppForm",
    "add_webauthn": "trackers.dashboards.account.factors.PasskeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RATE_LIMITS = {"webauthn_login": "60/m/ip"}
MFA_RECOVERY_CODES_SHOW_ONCE = True
# Clocks of phones are some seconds off.
MFA_TOTP_TOLERANCE = 1
# Who has no e-mail address that was confirmed may have a factor all the same.
MFA_ALLOW_UNVERIFIED_EMAIL = True

SOCIALACCOUNT_ADAPTER = "trackers.dashboards.account.provider.ProviderAdapter"
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
# Linking an account to one of the provider takes the password again.
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True

# Not about logging in, but the same everywhere too: where browsers take messages. A name that
# begins with a point stands for all hosts below it.
PUSH_SERVICES = (
    *("fcm.googleapis.com", "updates.push.services.mozilla.com"),
    *(".push.apple.com", ".notify.windows.com"),
)
