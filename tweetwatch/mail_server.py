"""The mail server that EMAIL_URL names."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Server:
    """`security`: "tls" (STARTTLS), "ssl", or "" for none. `timeout`: for each of its answers."""

    host: str
    port: int
    sender: str
    timeout: timedelta
    user: str = ""
    password: str = field(default="", repr=False)
    security: str = ""

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"
