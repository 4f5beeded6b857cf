"""Sessions as Django keeps them, but encrypted with FIELD_KEYS: a session holds what a person is in
the midst of, as the secret of an app that they add, or a form that waits for their password.
"""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends import db

from trackers.credentials.secrets import SecretUnreadableError
from trackers.tokens.factors import decrypt_secret, encrypt_secret


class SessionStore(db.SessionStore):
    def encode(self, session_dict: dict[str, Any]) -> str:
        return encrypt_secret(super().encode(session_dict))

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Empty, so that the person logs in again, where no key of FIELD_KEYS opens it."""
        try:
            opened: dict[str, Any] = super().decode(decrypt_secret(str(session_data)))
        except SecretUnreadableError:
            return {}
        return opened
