"""Whether the server answers: asked by pages that have nothing else to ask at a tick."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@login_not_required
@require_safe
@never_cache
def answers(request: HttpRequest) -> HttpResponse:
    """204, without a look at the database or at who asks."""
    return HttpResponse(status=204)
