"""`/i/oauth2/authorize`: asks the user, who comes back with a code for tokens (PKCE).

A code works once, for 30 seconds, for the client, the address and the verifier it was made for.
Every visitor counts as signed in; the page has a link for yes and one for no.
"""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qsl, urlencode

PATH = "/i/oauth2/authorize"
_CODE_LIVES_MS = 30_000
# The scope without which X issues no refresh token.
OFFLINE = "offline.access"


@dataclass(frozen=True, slots=True)
class Consent:
    """What a user allowed."""

    client_id: str
    redirect_uri: str
    challenge: str
    scope: str
    until_ms: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A page, or the address to which the browser is redirected."""

    status: int
    html: str = ""
    location: str = ""


class Consents:
    def __init__(self) -> None:
        self._codes: dict[str, Consent] = {}
        # Clients with a secret; unregistered ones have none.
        self.secrets: dict[str, str] = {}

    def clear(self) -> None:
        self._codes.clear()
        self.secrets.clear()

    def show(self, query: str, *, now_ms: int) -> Shown:
        params = dict(parse_qsl(query))
        if fault := _fault_in(params):
            return Shown(400, _page(f"Something went wrong: {fault}"))
        state, back = params["state"], params["redirect_uri"]
        match params.get("answer"):
            case "allow":
                code = secrets.token_urlsafe(48)
                self._codes[code] = Consent(
                    params["client_id"],
                    back,
                    params["code_challenge"],
                    params["scope"],
                    now_ms + _CODE_LIVES_MS,
                )
                return Shown(302, location=f"{back}?{urlencode({'state': state, 'code': code})}")
            case "deny":
                denied = urlencode({"error": "access_denied", "state": state})
                return Shown(302, location=f"{back}?{denied}")
            case _:
                return Shown(200, _question(params))

    def take(self, form: Mapping[str, str], *, now_ms: int) -> Consent | None:
        """The consent that this form's code is for; the code works only once."""
        consent = self._codes.pop(form.get("code", ""), None)
        if consent is None or now_ms > consent.until_ms:
            return None
        same = (form.get("redirect_uri"), challenge_of(form.get("code_verifier", "")))
        return consent if same == (consent.redirect_uri, consent.challenge) else None

    def client_of(self, form: Mapping[str, str]) -> str:
        """The client that the code is for; empty: none."""
        consent = self._codes.get(form.get("code", ""))
        return consent.client_id if consent else ""


def _fault_in(params: Mapping[str, str]) -> str:
    needed = ("client_id", "redirect_uri", "scope", "state", "code_challenge")
    if missing := [name for name in needed if not params.get(name)]:
        return f"{', '.join(missing)} is missing"
    if params.get("response_type") != "code":
        return "response_type is not code"
    if params.get("code_challenge_method") != "S256":
        return "code_challenge_method is not S256"
    return ""


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def _question(params: Mapping[str, str]) -> str:
    def link(answer: str) -> str:
        return escape(f"{PATH}?{urlencode({**params, 'answer': answer})}")

    return _page(
        f"<p>The app {escape(params['client_id'])} wants to access your X account, with "
        f"{escape(params['scope'])}.</p>"
        f'<p><a id="allow" href="{link("allow")}">Authorize app</a></p>'
        f'<p><a id="deny" href="{link("deny")}">Cancel</a></p>'
    )


def _page(body: str) -> str:
    return f'<!doctype html><html lang="en"><title>fake X</title><h1>fake X</h1>{body}</html>'
