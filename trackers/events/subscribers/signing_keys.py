"""The keys that sign a subscriber's deliveries: made here, shown once, rotated with an overlap."""

from __future__ import annotations

import base64
import secrets

from django.db import transaction

from trackers.events.models import Subscriber

_BYTES = 32


def new_signing_key() -> str:
    """A new key in the format of Standard Webhooks."""
    return f"whsec_{base64.b64encode(secrets.token_bytes(_BYTES)).decode()}"


def rotate(subscriber: Subscriber) -> str:
    """Add a new signing key and return it; the one before also signs until the next rotation."""
    made = new_signing_key()
    with transaction.atomic():
        keys = _locked(subscriber)
        _keep(subscriber, [made, *keys[:1]])
    return made


def drop_old_key(subscriber: Subscriber) -> None:
    """Sign only with the newest key from now on."""
    with transaction.atomic():
        _keep(subscriber, _locked(subscriber)[:1])


def _locked(subscriber: Subscriber) -> list[str]:
    row = Subscriber.objects.select_for_update(no_key=True).get(pk=subscriber.pk)
    subscriber.secrets = row.secrets
    return list(row.secrets.get("signing", []))


def _keep(subscriber: Subscriber, keys: list[str]) -> None:
    subscriber.secrets = {**subscriber.secrets, "signing": keys}
    subscriber.save(update_fields=["secrets"])
