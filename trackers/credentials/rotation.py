"""Rotation of FIELD_KEYS: secrets encrypted with older keys are re-encrypted with the first one."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.db import models, transaction

from trackers.credentials.secrets import EncryptedJSONField


@transaction.atomic
def encrypt_anew() -> int:
    """Re-encrypts the secrets of all rows, or of none if one is unreadable (SecretUnreadableError).

    Covers every table that has such a field, so that none is forgotten.
    """
    count = 0
    for model, fields in encrypted():
        for row in model._default_manager.select_for_update().order_by("pk"):
            row.save(update_fields=fields)
            count += 1
    return count


def encrypted() -> Iterator[tuple[type[models.Model], list[str]]]:
    """The models with encrypted fields, by name, which is the order of the locks."""
    for model in sorted(apps.get_models(), key=lambda one: one._meta.label):
        fields = [one.name for one in model._meta.fields if isinstance(one, EncryptedJSONField)]
        if fields and not model._meta.proxy:
            yield model, fields
