"""Refusals of the API, as RFC 9457 describes them: application/problem+json."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

CONTENT_TYPE = "application/problem+json"


def problem_json(status: int, detail: str, **more: Any) -> dict[str, Any]:
    """`more`: members of this problem alone."""
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}


def problem(status: int, detail: str, **more: Any) -> HttpResponse:
    return JsonResponse(
        problem_json(status, detail, **more), status=status, content_type=CONTENT_TYPE
    )


def is_of_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")
