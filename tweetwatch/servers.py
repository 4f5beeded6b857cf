"""Servers that the environment names: by EMAIL_URL for mail, by X_PROXY for requests to X, and by
OIDC_ISSUER for logging in.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class MailServer:
    host: str
    port: int
    sender: str
    timeout: timedelta  # for each of its answers
    user: str = ""
    password: str = field(default="", repr=False)
    security: str = ""  # "tls" (STARTTLS), "ssl", or "" for none

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that opens tunnels (CONNECT). Its str and its repr never show the password."""

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def headers(self) -> dict[str, str]:
        """The headers that authenticate us to the proxy."""
        if not self.user:
            return {}
        basic = b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {"Proxy-Authorization": f"Basic {basic}"}


@dataclass(frozen=True, slots=True)
class LoginProvider:
    """The OpenID Connect provider at which people may log in."""

    id = "oidc"  # in addresses, and beside each account of it

    name: str  # on the button
    issuer: str
    client_id: str
    secret: str = field(repr=False)
    claim: str
    # The values of the claim that make somebody a viewer, an operator, an owner.
    roles: tuple[tuple[str, frozenset[str]], ...]

    @property
    def origin(self) -> str:
        """Where its pages are."""
        parts = urlsplit(self.issuer)
        return f"{parts.scheme}://{parts.netloc}"

    def role_for(self, claims: Mapping[str, Any]) -> str | None:
        """The highest that the claim gives. Its name may lead through objects: `realm.roles`."""
        value: Any = claims.get(self.claim)
        if value is None:
            value = claims
            for part in self.claim.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
        values = {value} if isinstance(value, str) else set(map(str, value or ()))
        given = [role for role, values_of_role in self.roles if values & values_of_role]
        return given[-1] if given else None

    def as_setting(self) -> dict[str, Any]:
        app = {
            "provider_id": self.id,
            "name": self.name,
            "client_id": self.client_id,
            "secret": self.secret,
            "settings": {"server_url": self.issuer},
        }
        return {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}


def is_loopback(host: str) -> bool:
    """Whether what is sent to this host stays on this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
