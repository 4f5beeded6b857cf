"""Rotation of FIELD_KEYS: what older keys encrypted is encrypted anew with the first one."""

from __future__ import annotations

from django.db import transaction

from trackers.xapi.models import Credential


@transaction.atomic
def encrypt_anew() -> int:
    """All credentials or, when one of them cannot be read (SecretUnreadableError), none."""
    credentials = Credential.objects.select_for_update()
    for credential in credentials:
        credential.save(update_fields=["secrets"])
    return len(credentials)
