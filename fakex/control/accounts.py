"""The /_fake/ routes of credentials and of the projects that pay for what they read.

A credential is {"kind": "bearer", "oauth1" or "oauth2", its keys, "name", "app", "project"}, with
"expires_in" for oauth2; a project takes the terms of `Terms` and "others_today".
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fakex.control.acts import Act, Body, Params
from fakex.x import X


class Accounts:
    def __init__(self, x: X) -> None:
        self._x = x
        self.acts: dict[tuple[str, str], Act] = {
            ("GET", "credentials"): self._show_credentials,
            ("POST", "credentials"): self._add_credential,
            ("PUT", "credentials"): self._set_strict,
            ("DELETE", "credentials"): self._clear_credentials,
            ("POST", "clients"): self._add_client,
            ("GET", "projects"): self._show_projects,
            ("PUT", "projects"): self._set_terms,
            ("DELETE", "projects"): self._clear_projects,
        }

    def _show_credentials(self, _rest: str, _query: Params, _body: Body) -> Any:
        credentials = self._x.credentials
        callers = [asdict(caller) for caller in credentials.callers()]
        grants = [grant.to_dict() for grant in credentials.grants.all()]
        return {"strict": credentials.strict, "registered": callers + grants}

    def _add_credential(self, _rest: str, _query: Params, body: Body) -> Any:
        return asdict(self._x.credentials.register(body, now_ms=self._x.now_ms()))

    def _add_client(self, _rest: str, _query: Params, body: Body) -> Any:
        """A client with a secret, which authenticates its requests to the token endpoint."""
        self._x.credentials.grants.consents.secrets[body["client_id"]] = body["client_secret"]
        return {}

    def _set_strict(self, rest: str, query: Params, body: Body) -> Any:
        self._x.credentials.strict = bool(body["strict"])
        return self._show_credentials(rest, query, body)

    def _clear_credentials(self, _rest: str, _query: Params, _body: Body) -> Any:
        self._x.credentials.clear()
        return {}

    def _show_projects(self, rest: str, _query: Params, _body: Body) -> Any:
        ledger = self._x.ledger
        if rest:
            return ledger.project(rest).to_dict()
        return {"projects": {name: ledger.project(name).to_dict() for name in ledger.projects}}

    def _set_terms(self, rest: str, query: Params, body: Body) -> Any:
        self._x.ledger.change(rest, body, now_ms=self._x.now_ms())
        return self._show_projects(rest, query, body)

    def _clear_projects(self, rest: str, _query: Params, _body: Body) -> Any:
        self._x.ledger.clear(rest)
        return {}
