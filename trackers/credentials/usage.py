"""Ask X for the usage of a project, and the credits left, with one of its bearer tokens."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from trackers.credentials import selection, sentences
from trackers.credentials.models import Credential
from trackers.money import usage
from trackers.money.models import Project
from trackers.xapi.client import read_credits, read_project_usage
from trackers.xapi.endpoints import CREDITS, USAGE_COUNT
from trackers.xapi.errors import Forbidden, XError
from trackers.xapi.parse.usage import Usage


def ask_all_usage(*, base_url: str, timeout: timedelta) -> None:
    """Of each project: what X says it billed is kept beside our own count."""
    for project in Project.objects.all():
        usage_or_reason = _ask_usage(project.pk, base_url=base_url, timeout=timeout)
        if isinstance(usage_or_reason, str):
            usage.tell_problem(project, usage_or_reason)
        else:
            usage.store_usage(project, usage_or_reason)
        left = _ask_credits(project.pk, base_url=base_url, timeout=timeout)
        if left is not None:
            usage.store_credits(project, left)


def _ask_usage(project: int, *, base_url: str, timeout: timedelta) -> Usage | str:
    """What X billed the project, or why it could not be read, in a sentence."""
    credential = _bearer_of(project)
    if credential is None:
        return sentences.none_enabled() or (
            "X shows its usage only to bearer tokens of the v2 API. Add or enable one for this "
            "project in the admin."
        )
    selected = selection.select_credential(USAGE_COUNT, only=credential.pk)
    if not isinstance(selected, selection.Selection):
        return selected.why
    try:
        answer = read_project_usage(selected.credential, base_url=base_url, timeout=timeout)
    except XError as error:
        selection.settle_failed(selected, error)
        return error.reason
    selection.settle_answer(selected, answer.window)
    return answer


def _ask_credits(project: int, *, base_url: str, timeout: timedelta) -> Decimal | None:
    """The dollars left at X; None where it does not say, which is no trouble: few plans have it."""
    credential = _bearer_of(project)
    selected = credential and selection.select_credential(CREDITS, only=credential.pk)
    if not isinstance(selected, selection.Selection):
        return None
    try:
        answer = read_credits(selected.credential, base_url=base_url, timeout=timeout)
    except Forbidden as error:
        # Nothing is held against the credential: what it is needed for goes on.
        selection.settle_answer(selected, error.window)
        return None
    except XError as error:
        selection.settle_failed(selected, error)
        return None
    selection.settle_answer(selected, answer.window)
    return answer.left


def _bearer_of(project: int) -> Credential | None:
    """A token of the kind to which X says what a project used."""
    return (
        Credential.objects.enabled()
        .defer("secrets")
        .filter(app__project=project, kind=Credential.Kind.BEARER, api=Credential.Api.V2)
        .order_by("refused", "name")
        .first()
    )
