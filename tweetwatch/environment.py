"""Read the environment: the value of each variable, or an error that says what is wrong with it."""

from __future__ import annotations

import os
import re
import ssl
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote, urlsplit

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from tweetwatch.mail_server import Server
from tweetwatch.proxy import Proxy, is_loopback

# Nothing starts without these; if the environment has them, no file is needed.
NEEDED = ("SECRET_KEY", "FIELD_KEYS")
MAIL_PORTS = {"smtp+tls": 587, "smtp+ssl": 465, "smtp": 25}
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


def refuse_other_systems(system: str) -> None:
    if system != "linux":
        raise ImproperlyConfigured(
            f"tweetwatch runs only on Linux, and this is {system}: it uses prctl to end processes "
            "with their parent, and reads /proc. Run it in a Linux container or virtual machine."
        )


def read(path: Path) -> None:
    """Take from the file, if there is one, what the environment does not set."""
    fault = why_unreadable(path)
    if fault and not all(os.environ.get(name) for name in NEEDED):
        raise ImproperlyConfigured(
            f"{fault}, and {' and '.join(NEEDED)} are not in the environment either. "
            "Make it this user's own (chown, chmod 600), or run as its owner."
        )
    if not fault:
        environ.Env.read_env(path)


def why_unreadable(path: Path) -> str:
    """Why the file cannot be read; empty if it can, or if there is none."""
    try:
        with path.open("rb"):
            return ""
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{path} cannot be read by the user {user_name()} ({error.strerror})"


def user_name() -> str:
    import pwd  # Missing on other systems, which `refuse_other_systems` must be able to refuse.

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def refuse(name: str, fault: str, how: str) -> NoReturn:
    raise ImproperlyConfigured(f"{name} {fault}. Set it in the environment or in .env: {how}.")


def secret_key(env: environ.Env) -> str:
    key: str = env.str("SECRET_KEY", default="")
    if not key:
        refuse("SECRET_KEY", "is missing", HOW_TO_SIGN)
    if len(key) < 50:
        refuse(
            "SECRET_KEY", f"is too short: it has {len(key)} characters and needs 50", HOW_TO_SIGN
        )
    return key


def field_keys(env: environ.Env) -> list[str]:
    """Fernet keys, newest first; the older ones only decrypt, so that keys can be rotated."""
    keys = [key.strip() for key in env.str("FIELD_KEYS", default="").split(",") if key.strip()]
    if not keys:
        refuse("FIELD_KEYS", "is missing", HOW_TO_ENCRYPT)
    for place, key in enumerate(keys, start=1):
        try:
            Fernet(key)
        except ValueError:
            refuse("FIELD_KEYS", f"has a bad key at position {place}", HOW_TO_ENCRYPT)
    return keys


def metrics_key(env: environ.Env) -> str:
    """The key that Prometheus must send; "" if nobody may ask."""
    key: str = env.str("METRICS_KEY", default="").strip()
    if key and (len(key) < 16 or not key.isascii()):
        how = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        refuse("METRICS_KEY", "must be at least 16 ASCII characters", how)
    return key


def bus_root_token(env: environ.Env) -> str:
    """The token of root on the bus; "" if nobody is."""
    token: str = env.str("BUS_ROOT_TOKEN", default="").strip()
    if token and not re.fullmatch(r"[!-9;-~]+", token):
        how = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        refuse("BUS_ROOT_TOKEN", "has a colon, a blank, or a character beyond ASCII", how)
    return token


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


def bounds(env: environ.Env, name: str, *, default: str) -> list[tuple[str, int, int]]:
    """`[PREFIX=]LOWER/UPPER`, comma-separated; the last one has no prefix, and is for the rest."""
    text: str = env.str(name, default=default)
    how = f"{name}=user:=3200/3300,{default}"
    found = []
    for rule in text.split(","):
        prefix, _, pair = rule.strip().rpartition("=")
        lower, _, upper = pair.partition("/")
        if not (lower.isdecimal() and upper.isdecimal()):
            refuse(
                name, f"has {rule.strip()!r}, which is not LOWER/UPPER or PREFIX=LOWER/UPPER", how
            )
        if not 1 <= int(lower) <= int(upper) <= 1_000_000:
            refuse(
                name,
                f"has {pair!r}, but LOWER must be at least 1, and UPPER from LOWER to a million",
                how,
            )
        found.append((prefix, int(lower), int(upper)))
    if [prefix == "" for prefix, _, _ in found] != [False] * (len(found) - 1) + [True]:
        refuse(name, "must end with its only bound without a prefix", how)
    return found


def networks(env: environ.Env, name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Networks such as 10.1.0.0/16 or fd00::/8, comma-separated; a single address is one too."""
    texts = [text.strip() for text in env.str(name, default="").split(",")]
    found = []
    for text in filter(None, texts):
        try:
            found.append(ip_network(text))
        except ValueError as error:
            refuse(
                name,
                f"has {text!r}, which is not a network ({error})",
                f"{name}=10.1.0.0/16,fd00::/8",
            )
    return tuple(found)


def base_url(env: environ.Env, name: str, *, such_as: str = "https://api.x.com") -> str:
    """An https address without path, query or password, or http on this machine; empty if unset."""
    text: str = env.str(name, default="").strip().rstrip("/")
    if not text:
        return ""
    if not is_base_url(text):
        refuse(name, "is not an address such as http://127.0.0.1:9100", f"{name}={such_as}")
    parts = urlsplit(text)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        fault = "is http:// to another machine, which would send keys and tokens unencrypted"
        refuse(name, fault, f"{name}={such_as}")
    return text


def proxy(env: environ.Env, name: str) -> Proxy | None:
    """http://[user:password@]host:port of a proxy that opens tunnels; None if unset."""
    text: str = env.str(name, default="").strip()
    if not text:
        return None
    how = f"{name}=http://user:password@host:port (@ in a password is %40, / is %2F, % is %25)"
    if not text.lower().startswith("http://"):
        refuse(name, "does not begin with http:// (no other kind of proxy is supported)", how)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    # Outside of the except: its text may hold a part of the password.
    if not host or not port or parts.path not in ("", "/") or parts.query or parts.fragment:
        refuse(name, "is not the address of a proxy, with its port", how)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user + password).isprintable() or (password and not user):
        refuse(name, "has control characters, or a password without a user name", how)
    return Proxy(host, port, user, password)


def mail_server(env: environ.Env, *, public_url: str, task_timeout: int) -> Server | None:
    """smtp+tls://user:password@host:port of the mail server for alerts; None if unset."""
    name = "EMAIL_URL"
    text: str = env.str(name, default="").strip()
    timeout = seconds(env, "EMAIL_TIMEOUT", default=min(10, task_timeout / 3), least=1, most=60)
    host = urlsplit(public_url).hostname or "localhost"
    sender: str = env.str("EMAIL_FROM", default="").strip() or f"tweetwatch@{host}"
    if not text:
        return None
    how = f"{name}=smtp+tls://user:password@mail.example:587 (@ in a password is %40, / is %2F)"
    try:
        parts = urlsplit(text)
        found, port = parts.hostname, parts.port
    except ValueError:
        found = port = None
    # Outside of the except: its text may hold a part of the password.
    if not found or parts.path not in ("", "/") or parts.query or parts.fragment:
        refuse(name, "is not the address of a mail server", how)
    if parts.scheme not in MAIL_PORTS:
        refuse(name, f"must begin with one of {', '.join(MAIL_PORTS)}", how)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user + password).isprintable() or bool(user) != bool(password):
        refuse(name, "has control characters, or a user name or password without the other", how)
    if password and parts.scheme == "smtp" and not is_loopback(found):
        refuse(name, "would send the password unencrypted", how)
    if "\n" in sender or "@" not in sender:
        refuse("EMAIL_FROM", "is not an e-mail address", "EMAIL_FROM=tweetwatch@watch.example")
    if timeout.total_seconds() > task_timeout / 2:
        refuse(
            "EMAIL_TIMEOUT", f"is more than half of TASK_TIMEOUT ({task_timeout} s)",
            "EMAIL_TIMEOUT=10",
        )  # fmt: skip
    security = parts.scheme.partition("+")[2]
    place = port or MAIL_PORTS[parts.scheme]
    return Server(found, place, sender, timeout, user, password, security)


def ca_file(env: environ.Env, name: str) -> str:
    """The path of a file with certificates (PEM); empty if unset."""
    text: str = env.str(name, default="").strip()
    if not text:
        return ""
    path, how = Path(text).absolute(), f"{name}=/etc/ssl/certs/our-company.pem"
    try:
        path.read_bytes()
    except OSError as error:
        refuse(name, f"cannot be read ({path}: {error.strerror})", how)
    try:
        ssl.create_default_context(cafile=path)
    except ssl.SSLError:
        refuse(name, f"contains no PEM certificate ({path})", how)
    return str(path)


def is_base_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # urlsplit only raises on an invalid port when `port` is read.
        bare = parts.port is None or parts.port > 0
    except ValueError:
        return False
    extras = parts.path or parts.query or parts.fragment or parts.username or parts.password
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and bare and not extras


def database(env: environ.Env) -> dict[str, object] | None:
    """Django's settings for DATABASE_URL; None if unset: then the embedded PostgreSQL is used."""
    text: str = env.str("DATABASE_URL", default="").strip()
    if not text:
        return None
    how = "DATABASE_URL=postgres://user:password@host:5432/tweetwatch"
    scheme = text.partition(":")[0]
    if scheme not in {"postgres", "postgresql", "pgsql", "psql"}:
        refuse("DATABASE_URL", f"starts with {scheme!r}, but only PostgreSQL is supported", how)
    config: dict[str, object] | None
    try:
        config = env.db_url_config(text)
    except ValueError:
        config = None
    # Outside of the except: its text may hold a part of the password.
    if config is None:
        refuse("DATABASE_URL", "is not an address (% in a password is %25, / is %2F)", how)
    if not config.get("NAME"):
        refuse("DATABASE_URL", "names no database", how)
    # As libpq reads it: the folder of a socket is written with %2F.
    config["HOST"] = unquote(str(config.get("HOST") or ""))
    return config
