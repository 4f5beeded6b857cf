"""Read the environment: each variable, or a sentence that says what is wrong with it."""

from __future__ import annotations

from datetime import timedelta
from typing import NoReturn
from urllib.parse import urlsplit

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

DECADE = 10.0 * 365 * 86400
HOW_TO_SIGN = (
    "make one with: python -c 'import secrets; print(secrets.token_urlsafe(50))' "
    "(`make` writes a .env with fresh keys when there is none)"
)
HOW_TO_ENCRYPT = (
    "make one with: python -c 'from cryptography.fernet import Fernet; "
    "print(Fernet.generate_key().decode())' "
    "(`make` writes a .env with fresh keys when there is none)"
)


def refuse(name: str, fault: str, how: str) -> NoReturn:
    raise ImproperlyConfigured(f"{name} {fault}. Set it in the environment or in .env: {how}.")


def secret_key(env: environ.Env) -> str:
    key: str = env.str("SECRET_KEY", default="")
    if not key:
        refuse("SECRET_KEY", "is missing", HOW_TO_SIGN)
    if len(key) < 50:
        refuse("SECRET_KEY", f"is too short ({len(key)} characters, 50 at least)", HOW_TO_SIGN)
    return key


def field_keys(env: environ.Env) -> list[str]:
    """Fernet keys, the newest first; the others only decrypt, so that a key can be rotated."""
    keys = [key.strip() for key in env.str("FIELD_KEYS", default="").split(",") if key.strip()]
    if not keys:
        refuse("FIELD_KEYS", "is missing", HOW_TO_ENCRYPT)
    for place, key in enumerate(keys, start=1):
        try:
            Fernet(key)
        except ValueError:
            refuse("FIELD_KEYS", f"has a bad key in place {place}", HOW_TO_ENCRYPT)
    return keys


def metrics_key(env: environ.Env) -> str:
    """What Prometheus brings; "" for nobody may ask."""
    key: str = env.str("METRICS_KEY", default="").strip()
    if key and (len(key) < 16 or not key.isascii()):
        how = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        refuse("METRICS_KEY", "is too short (16 characters at least), or not plain", how)
    return key


def truth(env: environ.Env, name: str, *, default: bool) -> bool:
    text: str = env.str(name, default="true" if default else "false").strip().lower()
    if text not in {"true", "false", "1", "0", "yes", "no", "on", "off"}:
        refuse(name, f"is {text!r}, which is neither true nor false", f"{name}=true")
    return text in {"true", "1", "yes", "on"}


def number(env: environ.Env, name: str, *, default: int, least: int, most: int) -> int:
    text: str = env.str(name, default=str(default)).strip()
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        refuse(name, f"is {text!r}, not a whole number from {least} to {most}", f"{name}={default}")
    return value


def seconds(
    env: environ.Env, name: str, *, default: float, least: float = 0.0, most: float = DECADE
) -> timedelta:
    text: str = env.str(name, default=str(default)).strip()
    try:
        value = float(text)
    except ValueError:
        refuse(name, f"is {text!r}, not a number of seconds", f"{name}={default}")
    if not least <= value <= most:
        refuse(name, f"is {text!r}, not from {least:g} to {most:g} seconds", f"{name}={default}")
    return timedelta(seconds=value)


def base_url(env: environ.Env, name: str) -> str:
    """An http(s) address without path, query or password; empty when unset."""
    text: str = env.str(name, default="").strip().rstrip("/")
    if not text:
        return ""
    if not is_base_url(text):
        refuse(name, "is not an address such as http://127.0.0.1:9100", f"{name}=https://api.x.com")
    return text


def is_base_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # A port that is none is found when it is asked for.
        bare = parts.port is None or parts.port > 0
    except ValueError:
        return False
    extras = parts.path or parts.query or parts.fragment or parts.username or parts.password
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and bare and not extras


def database(env: environ.Env) -> dict[str, object] | None:
    """Django's settings for DATABASE_URL, or None: the embedded PostgreSQL is used then."""
    text: str = env.str("DATABASE_URL", default="").strip()
    if not text:
        return None
    how = "DATABASE_URL=postgres://user:password@host:5432/tweetwatch"
    scheme = text.partition(":")[0]
    if scheme not in {"postgres", "postgresql", "pgsql", "psql"}:
        refuse("DATABASE_URL", f"starts with {scheme!r}, and only PostgreSQL will do", how)
    config: dict[str, object] | None
    try:
        config = env.db_url_config(text)
    except ValueError:
        config = None
    # Outside of the except: its text may hold a part of the password.
    if config is None:
        refuse("DATABASE_URL", "is no address (% in a password is %25, / is %2F)", how)
    if not config.get("NAME"):
        refuse("DATABASE_URL", "names no database", how)
    return config
