"""`Idempotency-Key`: a POST that is sent twice is done once, and answered the same."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from trackers.api.wire.auth import limit, token_of
from trackers.bus.keys import KEY, half_of
from trackers.tokens import api_answers
from trackers.tokens.api_answers import Answer, Asked, UsedOtherwiseError
from tweetwatch.http.problems import problem
from tweetwatch.http.refusals import Refused

BAD_KEY = "Idempotency-Key must have 1 to 255 printable ASCII characters."
USED = "Another request was made with this Idempotency-Key: use a new one for each."


def once(request: HttpRequest, view: Callable[[], HttpResponse]) -> HttpResponse:
    """The view's answer; the first one, if this token has used the key of the request before.

    One transaction: of a request that is refused, or fails on our side, neither a change nor the
    key remains. So it may be sent again with the same key, once what was wrong is mended.
    """
    key = request.headers.get("Idempotency-Key")
    if request.method != "POST" or key is None:
        return view()
    if not KEY.fullmatch(key):
        return problem(400, BAD_KEY)
    token = token_of(request)
    if token is None:
        # The view refuses it.
        return view()
    try:
        # Before the transaction: the count stays whatever comes of it, and no other request waits.
        limit(request, token)
    except Refused as refused:
        return problem(refused.status, refused.detail)
    asked = Asked(token.pk, half_of(key.encode()), request_of(request))
    with transaction.atomic():
        try:
            known = api_answers.keep(asked)
        except UsedOtherwiseError:
            return problem(422, USED)
        if known is not None:
            return again(known)
        answer = view()
        if answer.status_code >= 400:
            transaction.set_rollback(True)
        else:
            kind = answer.headers.get("Content-Type", "")
            api_answers.answer(asked, Answer(answer.status_code, kind, answer.content))
    return answer


def again(known: Answer) -> HttpResponse:
    answer = HttpResponse(known.body, status=known.status)
    if known.content_type:
        answer["Content-Type"] = known.content_type
    else:
        del answer["Content-Type"]
    answer["Idempotent-Replayed"] = "true"
    return answer


def request_of(request: HttpRequest) -> UUID:
    return half_of(b"\0".join((request.get_full_path().encode(), request.body)))
