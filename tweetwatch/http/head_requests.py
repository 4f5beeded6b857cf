"""HEAD is answered as GET is, and without the body: gunicorn would log a warning for each."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class HeadMiddleware:
    """Before all others, so that whatever they answer counts."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        if request.method == "HEAD" and not answer.streaming:
            length = len(answer.content)
            answer.content = b""
            answer["Content-Length"] = str(length)
        return answer
