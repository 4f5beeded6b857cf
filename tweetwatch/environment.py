"""Read the environment: the value of each variable, or an error that says what is wrong with it.

django-environ casts; here are the bounds, and the sentences.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_network
from math import nan
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import SplitResult, unquote, urlsplit

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from tweetwatch.servers import LoginProvider, MailServer, Proxy, is_loopback

_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]+[a-z0-9](/[\w.-]+)*")
_MAIL_PORTS = {"smtp+tls": 587, "smtp+ssl": 465, "smtp": 25}
_TRUTHS = {"true", "false", "1", "0", "yes", "no", "on", "off"}
_DECADE = 10.0 * 365 * 86400
_HOW_TO_MAKE = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
_HOW_TO_SIGN = (
    "make one with: python -c 'import secrets; print(secrets.token_urlsafe(50))' "
    "(`make` writes a .env with fresh keys when there is none)"
)
_HOW_TO_ENCRYPT = (
    "make one with: python -c 'from cryptography.fernet import Fernet; "
    "print(Fernet.generate_key().decode())' "
    "(`make` writes a .env with fresh keys when there is none)"
)
# What other programs' database addresses have, and what to write here.
_INSTEAD_OF = {
    "pgbouncer": "leave it out, and set DATABASE_PREPARE=false (docs/postgresql.md)",
    "schema": "leave it out, or write ?options=-c%20search_path%3DNAME",
    "currentschema": "leave it out, or write ?options=-c%20search_path%3DNAME",
}


def refuse_other_systems(system: str) -> None:
    if system != "linux":
        raise ImproperlyConfigured(
            f"tweetwatch runs only on Linux, and this is {system}: it uses prctl to end processes "
            "with their parent, and reads /proc. Run it in a Linux container or virtual machine."
        )


def refuse_setting(name: str, fault: str, how: str) -> NoReturn:
    raise ImproperlyConfigured(f"{name} {fault}. Set it in the environment or in .env: {how}.")


class Environment(environ.Env):
    """Each method returns the value of a variable, or refuses it with a sentence."""

    def get_value(
        self,
        var: str,
        cast: Any = None,
        default: Any = environ.Env.NOTSET,
        parse_default: bool = False,
    ) -> Any:
        """As written: django-environ takes `$abc` for the value of another variable, abc."""
        value = self.ENVIRON.get(var, "")
        if value.startswith("$"):
            return self.parse_value(value, cast)
        return super().get_value(var, cast, default, parse_default)

    def secret_key(self) -> str:
        key: str = self.str("SECRET_KEY", default="")
        if not key:
            refuse_setting("SECRET_KEY", "is missing", _HOW_TO_SIGN)
        if len(key) < 50:
            fault = f"is too short: it has {len(key)} characters and needs 50"
            refuse_setting("SECRET_KEY", fault, _HOW_TO_SIGN)
        return key

    def field_keys(self) -> list[str]:
        """Fernet keys, newest first; the older ones only decrypt, so that keys can be rotated."""
        keys = self.texts("FIELD_KEYS")
        if not keys:
            refuse_setting("FIELD_KEYS", "is missing", _HOW_TO_ENCRYPT)
        for place, key in enumerate(keys, start=1):
            try:
                Fernet(key)
            except ValueError:
                refuse_setting("FIELD_KEYS", f"has a bad key at position {place}", _HOW_TO_ENCRYPT)
        return keys

    def metrics_key(self) -> str:
        """The key that Prometheus must send; "" if nobody may ask."""
        key = self.text("METRICS_KEY")
        if key and (len(key) < 16 or not key.isascii()):
            refuse_setting("METRICS_KEY", "must be at least 16 ASCII characters", _HOW_TO_MAKE)
        return key

    def text(self, name: str) -> str:
        """Without blanks around it; empty if unset."""
        text: str = self.str(name, default="")
        return text.strip()

    def texts(self, name: str) -> list[str]:
        """Comma-separated; none of them is empty."""
        return list(filter(None, self.list(name, cast=str.strip, default=[])))

    def truth(self, name: str, *, default: bool) -> bool:
        if name in self and self.text(name).lower() not in _TRUTHS:
            fault = f"is {self.text(name)!r}, which is neither true nor false"
            refuse_setting(name, fault, f"{name}=true")
        truth: bool = self.bool(name, default=default)
        return truth

    def number(self, name: str, *, default: int, least: int, most: int) -> int:
        return int(self._within(least, most, name, default, int, "a whole number"))

    def seconds(
        self, name: str, *, default: float, least: float = 0.0, most: float = _DECADE
    ) -> timedelta:
        # Not `float` itself, for which django-environ takes "5 min" for 5.
        cast = partial(float)
        return timedelta(
            seconds=self._within(least, most, name, default, cast, "a number of seconds")
        )

    def _within(
        self,
        least: float,
        most: float,
        name: str,
        default: float,
        cast: Callable[[str], float],
        kind: str,
    ) -> float:
        try:
            value: float = self.get_value(name, cast=cast, default=default)
        except ValueError:
            value = nan
        # NaN compares as false with everything.
        if not least <= value <= most:
            fault = f"is {self.text(name)!r}, not {kind} from {least:,.15g} to {most:,.15g}"
            refuse_setting(name, fault, f"{name}={default}")
        return value

    def bounds(self, name: str, *, default: str) -> list[tuple[str, int, int]]:
        """`[PREFIX=]LOWER/UPPER`, comma-separated; only the last has no prefix, and is for the
        rest."""
        how = f"{name}=user:=3200/3300,{default}"
        bounds = []
        for rule in self.str(name, default=default).split(","):
            prefix, _, pair = rule.strip().rpartition("=")
            lower, _, upper = pair.partition("/")
            if not (lower.isdecimal() and upper.isdecimal()):
                fault = f"has {rule.strip()!r}, which is not LOWER/UPPER or PREFIX=LOWER/UPPER"
                refuse_setting(name, fault, how)
            if not 1 <= int(lower) <= int(upper) <= 1_000_000:
                limits = "LOWER must be at least 1, and UPPER from LOWER to a million"
                refuse_setting(name, f"has {pair!r}, but {limits}", how)
            bounds.append((prefix, int(lower), int(upper)))
        if [prefix == "" for prefix, _, _ in bounds] != [False] * (len(bounds) - 1) + [True]:
            refuse_setting(name, "must end with its only bound without a prefix", how)
        return bounds

    def networks(self, name: str) -> tuple[IPv4Network | IPv6Network, ...]:
        """Networks such as 10.1.0.0/16 or fd00::/8, comma-separated; an address is one too."""
        networks = []
        for text in self.texts(name):
            try:
                networks.append(ip_network(text))
            except ValueError as error:
                fault = f"has {text!r}, which is not a network ({error})"
                refuse_setting(name, fault, f"{name}=10.1.0.0/16,fd00::/8")
        return tuple(networks)

    def base_url(self, name: str, *, such_as: str = "https://api.x.com") -> str:
        """An https address without path, query or password, or http on this machine; empty if
        unset."""
        text, how = self.text(name).rstrip("/"), f"{name}={such_as}"
        if not text:
            return ""
        fault = "is not an address such as http://127.0.0.1:9100"
        host = self._host(name, fault, how)
        if host.scheme not in {"http", "https"} or host.username or host.password:
            refuse_setting(name, fault, how)
        if host.scheme == "http" and not is_loopback(host.hostname or ""):
            fault = "is http:// to another machine, which would send keys and tokens unencrypted"
            refuse_setting(name, fault, how)
        return text

    def proxy(self, name: str) -> Proxy | None:
        """http://[user:password@]host:port of a proxy that opens tunnels; None if unset."""
        text = self.text(name)
        if not text:
            return None
        how = f"{name}=http://user:password@host:port (@ in a password is %40, / is %2F, % is %25)"
        if not text.lower().startswith("http://"):
            refuse_setting(
                name, "does not begin with http:// (no other kind of proxy is supported)", how
            )
        fault = "is not the address of a proxy, with its port"
        host = self._host(name, fault, how)
        if not host.port:
            refuse_setting(name, fault, how)
        return Proxy(host.hostname or "", host.port, *_login(host, name, how))

    def mail_server(self, *, public_url: str, task_timeout: int) -> MailServer | None:
        """smtp+tls://user:password@host:port of the mail server for alerts; None if unset."""
        name = "EMAIL_URL"
        default = min(10, task_timeout / 3)
        timeout = self.seconds("EMAIL_TIMEOUT", default=default, least=1, most=60)
        domain = urlsplit(public_url).hostname or "localhost"
        sender = self.text("EMAIL_FROM") or f"tweetwatch@{domain}"
        if not self.text(name):
            return None
        how = f"{name}=smtp+tls://user:password@mail.example:587 (@ in a password is %40, / is %2F)"
        host = self._host(name, "is not the address of a mail server", how)
        if host.scheme not in _MAIL_PORTS:
            refuse_setting(name, f"must begin with one of {', '.join(_MAIL_PORTS)}", how)
        user, password = _login(host, name, how)
        if user and not password:
            refuse_setting(name, "has a user name without a password", how)
        if password and host.scheme == "smtp" and not is_loopback(host.hostname or ""):
            refuse_setting(name, "would send the password unencrypted", how)
        if "\n" in sender or "@" not in sender:
            refuse_setting(
                "EMAIL_FROM", "is not an e-mail address", "EMAIL_FROM=tweetwatch@watch.example"
            )
        if timeout.total_seconds() > task_timeout / 2:
            fault = f"is more than half of TASK_TIMEOUT ({task_timeout} s)"
            refuse_setting("EMAIL_TIMEOUT", fault, "EMAIL_TIMEOUT=10")
        port = host.port or _MAIL_PORTS[host.scheme]
        security = host.scheme.partition("+")[2]
        return MailServer(host.hostname or "", port, sender, timeout, user, password, security)

    def login_provider(self) -> LoginProvider | None:
        """The OpenID Connect provider of OIDC_ISSUER; None if unset."""
        issuer = self.text("OIDC_ISSUER").rstrip("/")
        if not issuer:
            return None
        host = urlsplit(issuer)
        if host.scheme != "https" and not (
            host.scheme == "http" and is_loopback(host.hostname or "")
        ):
            refuse_setting("OIDC_ISSUER", "is not https://", "OIDC_ISSUER=https://login.example")
        for name in ("OIDC_CLIENT_ID", "OIDC_SECRET"):
            if not self.text(name):
                refuse_setting(
                    name, "is missing", f"{name}=what the provider shows for this client"
                )
        names = (
            ("viewer", "OIDC_VIEWERS"),
            ("operator", "OIDC_OPERATORS"),
            ("owner", "OIDC_OWNERS"),
        )
        roles = tuple((role, frozenset(self.texts(name))) for role, name in names)
        if not any(values for _, values in roles):
            how = "OIDC_VIEWERS=tweetwatch (a value of the claim that OIDC_CLAIM names)"
            refuse_setting("OIDC_VIEWERS", "gives nobody a role, and neither do the others", how)
        return LoginProvider(
            self.text("OIDC_NAME") or "single sign-on",
            issuer,
            self.text("OIDC_CLIENT_ID"),
            self.text("OIDC_SECRET"),
            self.text("OIDC_CLAIM") or "groups",
            roles,
        )

    def _host(self, name: str, fault: str, how: str) -> SplitResult:
        """An address that names a host, perhaps a port and a login, and nothing below the host."""
        try:
            host = urlsplit(self.text(name).rstrip("/"))
            below = host.path or host.query or host.fragment
            # An invalid port only raises when it is read.
            is_right = host.hostname and host.port != 0 and not below
        except ValueError:
            is_right = False
        # Outside of the except: its text may hold a part of the password.
        if not is_right:
            refuse_setting(name, fault, how)
        return host

    def archive(self, name: str) -> str:
        """An absolute path, which may not exist yet, or s3://bucket/prefix; empty if unset."""
        text = self.text(name).rstrip("/")
        if not text or Path(text).is_absolute():
            return text
        if not _BUCKET.fullmatch(text):
            how = f"{name}=/srv/tweetwatch/archive or {name}=s3://bucket/prefix"
            refuse_setting(name, "is neither an absolute path nor s3://bucket/prefix", how)
        if not self.truth("EGRESS_PLAIN_HTTP", default=False):
            self.base_url(
                "AWS_ENDPOINT_URL", such_as="https://s3.example, or EGRESS_PLAIN_HTTP=true"
            )
        return text

    def ca_file(self, name: str) -> str:
        """The path of a file with certificates (PEM); empty if unset."""
        if not self.text(name):
            return ""
        path, how = Path(self.text(name)).absolute(), f"{name}=/etc/ssl/certs/our-company.pem"
        try:
            path.read_bytes()
        except OSError as error:
            refuse_setting(name, f"cannot be read ({path}: {error.strerror})", how)
        try:
            ssl.create_default_context(cafile=path)
        except ssl.SSLError:
            refuse_setting(name, f"contains no PEM certificate ({path})", how)
        return str(path)

    def database(self, name: str) -> dict[str, Any] | None:
        """Django's settings of the database at this address; None if it is unset."""
        how = f"{name}=postgres://user:password@host:5432/tweetwatch"
        text = self.text(name)
        if not text:
            return None
        scheme = text.partition(":")[0]
        if scheme not in {"postgres", "postgresql", "pgsql", "psql"}:
            is_ours = scheme.partition("+")[0] in {"postgres", "postgresql"}
            only = "write postgres" if is_ours else "only PostgreSQL is supported"
            refuse_setting(name, f"starts with {scheme!r}: {only}", how)
        try:
            config: dict[str, Any] | None = self.db_url_config(text)
        except ValueError:
            config = None
        # Outside of the except: its text may hold a part of the password.
        if config is None:
            encoded = "% in a password is %25, / is %2F, ? is %3F, # is %23"
            refuse_setting(name, f"is not an address ({encoded})", how)
        self._refuse_unknown_options(name, config.get("OPTIONS", {}))
        if not config.get("NAME"):
            refuse_setting(name, "names no database", how)
        # As libpq reads it: the folder of a socket is written with %2F.
        config["HOST"] = unquote(str(config.get("HOST") or ""))
        config["ENGINE"] = "tweetwatch.database_backend"
        return config

    def _refuse_unknown_options(self, name: str, options: Iterable[str]) -> None:
        """What libpq does not know would only be said at the first connection."""
        # Not of the first lines: a system that is refused may not be able to load it.
        from psycopg.pq import Conninfo

        known = {option.keyword.decode() for option in Conninfo.get_defaults()}
        for option in sorted(set(options) - known):
            how = _INSTEAD_OF.get(option.lower(), "leave it out")
            refuse_setting(name, f"has ?{option}=, which PostgreSQL's library does not know", how)


def _login(host: SplitResult, name: str, how: str) -> tuple[str, str]:
    """User and password, both empty if there are none."""
    user, password = unquote(host.username or ""), unquote(host.password or "")
    if not (user + password).isprintable() or (password and not user):
        refuse_setting(name, "has control characters, or a password without a user name", how)
    return user, password
