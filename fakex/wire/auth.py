"""Which credentials are valid: bearer tokens, OAuth 2.0 users' tokens, OAuth 1.0a signatures.

A signature must be for the scheme and host of the request, as with X itself, which has two names;
or for one canonical address, when a client that signs for X is directed to this server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oauthlib.oauth1.rfc5849.endpoints.signature_only import SignatureOnlyEndpoint
from oauthlib.oauth1.rfc5849.errors import OAuth1Error
from oauthlib.oauth1.rfc5849.request_validator import RequestValidator

from fakex.account.callers import Caller, fingerprint, read_caller
from fakex.wire.oauth2 import Grants

NO_CREDENTIALS, BAD_BEARER, _BAD_SIGNATURE = "no credentials", "bad bearer", "bad signature"


class Signer(NamedTuple):
    consumer_secret: str
    token_secret: str
    caller: Caller


class Credentials(RequestValidator):
    """The registered credentials; unless `strict`, an unknown bearer is an app of its own."""

    def __init__(self, canonical_base: str) -> None:
        super().__init__()
        self.canonical_base = canonical_base
        self.strict = False
        self.grants = Grants()
        self._bearers: dict[str, Caller] = {}
        self._strangers: dict[str, Caller] = {}
        self._signers: dict[tuple[str, str], Signer] = {}
        self._endpoint = SignatureOnlyEndpoint(self)

    def register(self, body: Mapping[str, Any], *, now_ms: int) -> Caller:
        """Add a credential in the format of `POST /_fake/credentials`; KeyError if incomplete."""
        if body["kind"] == "oauth2":
            return self.grants.register(body, now_ms=now_ms).caller
        if body["kind"] == "bearer":
            secret = body["bearer_token"]
            caller = self._bearers["Bearer " + secret] = read_caller(body, "bearer", secret=secret)
            return caller
        if body["kind"] != "oauth1":
            raise KeyError(body["kind"])
        key, token = body["consumer_key"], body["access_token"]
        caller = read_caller(body, "oauth1", secret=token, app=key)
        signer = Signer(body["consumer_secret"], body["access_token_secret"], caller)
        self._signers[key, token] = signer
        return caller

    def clear(self) -> None:
        for known in (self._bearers, self._strangers, self._signers):
            known.clear()
        self.grants.clear()

    def callers(self) -> list[Caller]:
        """All registered callers except OAuth 2.0 users, which `grants` lists in more detail."""
        signed = [signer.caller for signer in self._signers.values()]
        return [*self._bearers.values(), *signed]

    def identify(
        self,
        header: str | None,
        *,
        method: str,
        path_and_query: str,
        origin: str = "",
        form: str = "",
        now_ms: int,
    ) -> Caller | str:
        """The caller, or one of three reasons to reject the request."""
        if not header:
            return NO_CREDENTIALS
        if caller := self._bearers.get(header):
            return caller
        if self.grants.knows(header):
            return self.grants.caller(header, now_ms=now_ms) or BAD_BEARER
        if header.startswith("Bearer "):
            return self._stranger(header)
        if header.startswith("OAuth "):
            url = (self.canonical_base or origin) + path_and_query
            return self._signed(header, method, url, form)
        return NO_CREDENTIALS

    def _stranger(self, header: str) -> Caller | str:
        secret = header.removeprefix("Bearer ").strip()
        if self.strict or not secret:
            return BAD_BEARER
        caller = self._strangers.get(header)
        if caller is None:
            name = fingerprint(secret)
            caller = self._strangers[header] = Caller(name, name, name)
        return caller

    def _signed(self, header: str, method: str, url: str, form: str) -> Caller | str:
        headers = {"Authorization": header}
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            valid, request = self._endpoint.validate_request(url, method, form or None, headers)
        except (OAuth1Error, ValueError):
            return _BAD_SIGNATURE
        if not valid:
            return _BAD_SIGNATURE
        return self._signers[request.client_key, request.resource_owner_key].caller

    # The rest is what oauthlib requires of its validators; X's keys have no common length.

    # Loopback has no TLS.
    enforce_ssl = False
    dummy_client = "unknown"
    dummy_access_token = "unknown"  # noqa: S105 - the name of nobody's token

    def check_client_key(self, client_key: str) -> bool:
        return bool(client_key)

    def check_access_token(self, request_token: str) -> bool:
        return bool(request_token)

    def check_nonce(self, nonce: str) -> bool:
        return bool(nonce)

    def validate_timestamp_and_nonce(self, *_args: Any, **_kwargs: Any) -> bool:
        return True

    def validate_client_key(self, client_key: str, _request: Any) -> bool:
        return any(client_key == known for known, _ in self._signers)

    def validate_access_token(self, client_key: str, token: str, _request: Any) -> bool:
        return (client_key, token) in self._signers

    def get_client_secret(self, client_key: str, request: Any) -> str:
        return self._signer(client_key, request.resource_owner_key).consumer_secret

    def get_access_token_secret(self, client_key: str, token: str, _request: Any) -> str:
        return self._signer(client_key, token).token_secret

    def _signer(self, client_key: str, token: str) -> Signer:
        # Unknown keys get a made-up signer: oauthlib always checks a signature.
        return self._signers.get((client_key, token)) or Signer("-", "-", Caller("-", "-", "-"))
