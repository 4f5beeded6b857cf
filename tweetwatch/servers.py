"""Servers that the environment names: by EMAIL_URL for mail, by X_PROXY for requests to X."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address


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


def is_loopback(host: str) -> bool:
    """Whether what is sent to this host stays on this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
