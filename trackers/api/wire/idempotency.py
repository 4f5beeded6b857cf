"""`Idempotency-Key`: a POST that is sent twice is done once, and answered the same."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from trackers.api.wire.auth import count_against_limit, token_of
from trackers.tokens import idempotency
from trackers.tokens.idempotency import (
    Answer,
    KeyedRequest,
    UsedOtherwiseError,
    half_digest,
    key_of,
)
from tweetwatch.http.bodies import receive_body
from tweetwatch.http.problems import problem
from tweetwatch.http.refusals import Refused

_KEY_USED = "Another request was made with this Idempotency-Key: use a new one for each."


def answer_once(request: HttpRequest, view: Callable[[], HttpResponse]) -> HttpResponse:
    """The view's answer; the first one, if this token has used the key of the request before.

    One transaction: of a request that is refused, or fails on our side, neither a change nor the
    key remains. So it may be sent again with the same key, once what was wrong is mended.
    """
    header = request.headers.get("Idempotency-Key")
    if request.method != "POST" or header is None:
        return view()
    try:
        key = key_of(header)
    except ValueError as fault:
        return problem(400, str(fault))
    token = token_of(request)
    if token is None:
        # The view refuses it.
        return view()
    try:
        # Before the transaction: the count stays whatever comes of it, and no other request waits.
        count_against_limit(request, token)
        receive_body(request)
    except Refused as refused:
        return problem(refused.status, refused.detail)
    asked = KeyedRequest(token.pk, key, _request_digest(request))
    with transaction.atomic():
        try:
            if not idempotency.claim_key(asked):
                return _stored_response(idempotency.find_answer(asked))
        except UsedOtherwiseError:
            return problem(422, _KEY_USED)
        answer = view()
        if answer.status_code >= 400:
            transaction.set_rollback(True)
        else:
            kind = answer.headers.get("Content-Type", "")
            idempotency.store_answer(asked, Answer(answer.status_code, kind, answer.content))
    return answer


def _stored_response(stored: Answer) -> HttpResponse:
    answer = HttpResponse(stored.body, status=stored.status)
    if stored.content_type:
        answer["Content-Type"] = stored.content_type
    else:
        del answer["Content-Type"]
    answer["Idempotent-Replayed"] = "true"
    return answer


def _request_digest(request: HttpRequest) -> UUID:
    return half_digest(b"\0".join((request.get_full_path().encode(), request.body)))
