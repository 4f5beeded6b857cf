"""What is done to credentials: added, disabled, enabled, removed, checked, signed in.

Their secrets are in nothing that is said or written to the history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from trackers import history
from trackers.acts import Done
from trackers.credentials import sign_in
from trackers.credentials.check import CheckResult
from trackers.credentials.check import check as ask_x
from trackers.credentials.models import Credential
from trackers.credentials.secrets import SecretUnreadableError, check_secrets
from trackers.history import Actor
from trackers.jobs import holds
from trackers.jobs.models import TWEET_UPDATE
from trackers.money.models import App


def add(credential: Credential, actor: Actor, *, app: str = "", project: str = "") -> Done:
    """Save a new one, which belongs to the X app of this name, or to one of its own name.

    Raises ValidationError: a refused credential leaves no app or project behind.
    """
    with transaction.atomic():
        check_secrets(credential.kind, credential.secrets)
        credential.full_clean(exclude=["app"])
        credential.app = App.objects.named(app or credential.name, project)
        credential.full_clean()
        credential.save(force_insert=True)
    holds.end_hold(TWEET_UPDATE)
    history.record(actor, [credential], "Added", flag=history.ADDITION)
    return Done(f"Added {credential}.")


def disable(credentials: Sequence[Credential], actor: Actor, *, reason: str) -> Done:
    """X is asked with the others only."""
    for credential in credentials:
        credential.disable(reason, now=timezone.now())
    history.record(actor, credentials, "Disabled")
    return Done(f"Disabled {_names(credentials)}.", len(credentials))


def enable(credentials: Sequence[Credential], actor: Actor) -> Done:
    """Use them again, at each endpoint at once."""
    for credential in credentials:
        credential.clear_rejections()
        credential.enable()
    holds.end_hold(TWEET_UPDATE)
    history.record(actor, credentials, "Enabled")
    return Done(f"Enabled {_names(credentials)}.", len(credentials))


def try_again(credential: Credential) -> None:
    """It has new keys, or was added: let X be asked with it at once. Whoever saved it records it.

    Not while its own row is locked.
    """
    credential.clear_rejections()
    holds.end_hold(TWEET_UPDATE)


def remove(credential: Credential, actor: Actor) -> Done:
    """Forget it and its secrets."""
    history.record(actor, [credential], "Removed", flag=history.DELETION)
    credential.delete()
    return Done(f"Removed {credential} and its secrets.")


def check(credential: Credential) -> CheckResult:
    """Ask X for one tweet. It sets nothing, so it is not in the history."""
    try:
        credential.refresh_from_db(fields=["secrets", "refused"])
        result = ask_x(
            credential, base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT
        )
    except SecretUnreadableError as error:
        return CheckResult(credential.name, "failed", str(error), None)
    if result.ok:
        # Whatever kept X from being asked with it is over.
        holds.end_hold(TWEET_UPDATE)
    return result


def end_sign_in(sealed: str, answer: Mapping[str, str], actor: Actor) -> Done:
    """Keep the tokens for which X sent the person back with `answer`. Raises SignInError."""
    credential = sign_in.finish_sign_in(
        sealed,
        answer,
        now=timezone.now(),
        base_url=settings.X_API_BASE_URL,
        timeout=settings.REQUEST_TIMEOUT,
    )
    try_again(credential)
    history.record(actor, [credential], "Signed in with X")
    return Done(f"{credential} now has tokens from X. They are renewed before they expire.")


def _names(credentials: Sequence[Credential]) -> str:
    return ", ".join(credential.name for credential in credentials)
