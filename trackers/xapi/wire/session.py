"""What tweepy takes for a requests session: builds addresses and bodies, and sends them.

tweepy ─> Session: address, headers, body ─> Wire
requests would parse and quote a URL with a hundred ids several times over, character by character,
which takes as long as all the rest of a look-up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus, urlencode

from requests.utils import default_headers

from trackers.xapi.wire.transport import Reply, Wire

_DEFAULTS: Mapping[str, str] = dict(default_headers())
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"


class Session:
    """Reaches X only through `wire`, whatever the environment says. Keeps no cookies, follows no
    redirects. For one thread."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        data: Mapping[str, str] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        auth: None = None,
    ) -> Reply:
        """As `Wire.send`. `auth` is there only because tweepy always passes it: the wire signs."""
        body, kind = body_of(data, json)
        sent = {**_DEFAULTS, **(headers or {}), **({"Content-Type": kind} if kind else {})}
        return self._wire.send(method, url_with_query(url, params or {}), sent, body)

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        return self.request("GET", url, params=params, headers=headers)

    def post(self, url: str, *, data: Mapping[str, str]) -> Reply:
        return self.request("POST", url, data=data)

    def close(self) -> None:
        self._wire.close()


def url_with_query(url: str, params: Mapping[str, Any]) -> str:
    """The URL with these as its query, quoted as requests does; None values are left out."""
    query = {name: value for name, value in params.items() if value is not None}
    return f"{url}?{urlencode(query, doseq=True, quote_via=_quote)}" if query else url


def _quote(text: Any, *_: Any) -> str:
    """As `quote_plus`, which goes character by character where anything has to be quoted.

    In a list of ids only the commas have to be.
    """
    return quote_plus(text, safe=",").replace(",", "%2C")


def body_of(data: Mapping[str, str] | None, value: Any) -> tuple[bytes | None, str]:
    """A form, or a JSON value, as bytes, with its content type; None for neither."""
    if data:
        return urlencode(data).encode(), _FORM
    if value is not None:
        return json.dumps(value, allow_nan=False).encode(), _JSON
    return None, ""
