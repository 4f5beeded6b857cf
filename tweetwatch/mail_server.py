"""The mail server that EMAIL_URL names."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Server:
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
