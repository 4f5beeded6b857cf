"""Parameters of an address: what a call does not know is refused, and so is what is given twice.

A misspelled filter that were ignored would give a program more than it asked for; of two values
ninja takes the last. A cursor is opaque, signed, and of no use for another list or other filters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.signing import BadSignature, Signer
from django.http import HttpRequest
from ninja.signature import ViewSignature

View = Callable[..., Any]
# Of a name that is not known, this much is given back.
_MAX_NAME_ECHOED = 40
_MAX_CURSOR_LENGTH = 500
NOT_THIS_LIST = "This cursor is not from this list with these filters: begin without one."


def refuse_unknown_parameters(view: View) -> View:
    """The call, which answers ValueError, so 400, to any other parameter than its own.

    It is asked after the token, so whoever has none is still told so.
    """
    # Without its path, ninja takes the parts of the path for parameters, too.
    models = ViewSignature("", view).models
    names = {
        name
        for model in models
        if model.__ninja_param_source__ == "query"
        for name in model.__ninja_flatten_map__
    }

    @wraps(view)
    def answer(request: HttpRequest, **kwargs: Any) -> Any:
        parts = request.resolver_match.kwargs if request.resolver_match else {}
        for name, values in request.GET.lists():
            if name not in names or name in parts:
                raise ValueError(f"{name[:_MAX_NAME_ECHOED]}: there is no such parameter.")
            if len(values) > 1:
                raise ValueError(f"{name}: give it only once.")
        return view(request, **kwargs)

    return answer


def cursor_of(position: Any, *, of: str) -> str:
    """`of`: the list and its filters; `position`: what JSON can hold."""
    return Signer(salt=f"api:{of}").sign_object(position)


def position_of(cursor: str, *, of: str) -> Any:
    """Where the page begins; None without a cursor."""
    if not cursor:
        return None
    if len(cursor) > _MAX_CURSOR_LENGTH:
        raise ValueError(NOT_THIS_LIST)
    try:
        return Signer(salt=f"api:{of}").unsign_object(cursor)
    except (BadSignature, ValueError):
        raise ValueError(NOT_THIS_LIST) from None
