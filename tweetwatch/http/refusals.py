"""What the API and the bus refuse, with a status and a sentence; how it is told is up to each.

Malformed ─> 400 · not there ─> 404 · understood, and not done ─> what `Refused` says
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from tweetwatch.http.json_bodies import UnreadableError

# The answer to a status and a sentence, with further members if any.
Refuse = Callable[..., HttpResponse]

# Left out of messages: ninja's words for the parts of a request, and our views' for the body.
_UNNAMED_PARTS = {"body", "query", "path", "header", "given"}
# At most this many faults of one request are named.
_MAX_FAULTS_NAMED = 20


class Refused(Exception):
    """Understood, and not done; `detail` says why, and `more` are further members."""

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.more = status, detail, more


def handle_refusals(api: NinjaAPI, refuse: Refuse) -> None:
    def answers(kind: type[Exception], answer: Callable[[Any], HttpResponse]) -> None:
        api.add_exception_handler(kind, lambda _request, fault: answer(fault))

    def answers_in_its_words(kind: type[Exception], status: int) -> None:
        def answer(fault: Exception) -> HttpResponse:
            if isinstance(fault, (KeyError, IndexError, UnicodeError)):
                # No part of our code raises this for bad input, so it is our mistake.
                raise fault
            return refuse(status, str(fault))

        answers(kind, answer)

    answers_in_its_words(ValueError, 400)
    answers_in_its_words(LookupError, 404)
    answers(Refused, lambda fault: refuse(fault.status, fault.detail, **fault.more))
    answers(HttpError, lambda fault: refuse(fault.status_code, _sentence_of(fault)))
    answers(ValidationError, lambda fault: _malformed(fault.errors, refuse))


def _sentence_of(fault: HttpError) -> str:
    """Ninja's own words have no full stop, and of a body that cannot be parsed say no more."""
    is_said = isinstance(fault.__cause__, UnreadableError)
    text = str(fault.__cause__ if is_said else fault)
    return text if text.endswith(".") else f"{text}."


def _malformed(errors: list[dict[str, Any]], refuse: Refuse) -> HttpResponse:
    """The first of them in the sentence, and each with its field."""
    faults = [_fault_of(error) for error in errors[:_MAX_FAULTS_NAMED]]
    first = faults[0]
    return refuse(400, f"{first['field'] or 'The body'}: {first['detail']}.", errors=faults)


def _fault_of(error: dict[str, Any]) -> dict[str, str]:
    where = ".".join(str(part) for part in error["loc"] if part not in _UNNAMED_PARTS)
    return {"field": where, "detail": error["msg"].removeprefix("Value error, ").rstrip(".")}
