"""Every address by every role: who gets in, by GET and by POST, as `matrix.txt` says.

The addresses are those of the URL conf, so a new one fails until somebody decides who gets in. For
each method the matrix names the least of LADDER that does; `nobody` of it is let in by an account,
but by a token or a key, or there is no such method.
"""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver

from tests.api.conftest import end
from trackers import roles

pytestmark = pytest.mark.django_db

MATRIX = Path(__file__).parent / "matrix.txt"
METHODS = ("GET", "POST")
ANYBODY, ACCOUNT, ROOT, NOBODY = "anybody", "account", "root", "nobody"
LADDER = (ANYBODY, ACCOUNT, *roles.ROLES, ROOT)
# What stands for a part of an address. Rows of these ids are not there: who gets in reads that.
STANDS_FOR = {"int": "999999", "path": "999999", "str": "x", "slug": "x", "uuid": "x"}
# These lead to the login when they did what they do.
LEAVING = ("/logout/", "/admin/logout/")
# What the address alone does not say: acts take permissions of their own.
ACTS = {
    "tweets/<int:id>/<str:act>": ["check", "pause", "resume", "untrack"],
    "sources/<int:id>/<str:act>": ["poll", "pause", "resume"],
    "alerts/<int:id>/<str:act>": ["test", "on", "off", "remove"],
    "subscribers/<int:id>/<str:act>": ["pause", "resume", "test", "remove", "redeliver"],
    "following/<str:act>": ["follow", "unfollow"],
    "columns/<int:id>/<str:act>": ["left", "right", "remove"],
}


def addresses():
    """Route by concrete address, of the whole URL conf."""
    collected = {}
    for route in routes(get_resolver().url_patterns):
        for act in ACTS.get(route, [None]):
            name = route.replace("<str:act>", act) if act else route
            plain = re.sub(r"\(\?P<app_label>[^)]*\)", "<app_label>", name)
            collected.setdefault(f"/{plain}", concrete(name))
    return collected


def routes(patterns, before=""):
    """With the parts of pages that take a permission of their own."""
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLPattern):
            yield route
            yield from (
                f"{route}?part={part}" for part in getattr(pattern.callback, "of_parts", ())
            )
        else:
            yield from routes(pattern.url_patterns, route)


def concrete(route):
    """An address of this route; those of regular expressions are of the admin, or of the API."""
    if "^" in route or "(?P" in route:
        plain = route.replace("^", "").replace("$", "").replace("\\Z", "")
        plain = re.sub(r"\(\?P<app_label>[^)]*\)", "auth", plain)
        route = re.sub(r"\(\?P<url>[^)]*\)", "nowhere", plain)
    return "/" + re.sub(
        r"<(?:(\w+):)?\w+>", lambda found: STANDS_FOR.get(found[1] or "str", "x"), route
    )


def matrix():
    """Route by the least who gets in by GET, and by POST."""
    lines = [line.split() for line in MATRIX.read_text().splitlines() if line[:1] not in ("", "#")]
    return {route: (get, post) for get, post, route in lines}


def client_of(rung):
    client = Client()
    if rung == ANYBODY:
        return client
    user = User.objects.create_user(rung, is_staff=rung == ROOT, is_superuser=rung == ROOT)
    if rung in roles.ROLES:
        roles.give(user, rung)
    client.force_login(user)
    return client


def lets_in(client, method, address):
    """Whatever it does is undone, and the account stays logged in."""
    cookies = {name: one.value for name, one in client.cookies.items()}
    with transaction.atomic():
        answer = client.generic(method, address, headers={"Accept": "text/html"}, secure=True)
        end(answer)
        transaction.set_rollback(True)
    client.cookies.clear()
    client.cookies.load(cookies)
    led = answer.headers.get("Location", "").partition("?")[0]
    is_refused = answer.status_code in (401, 403, 405) or led in ("/login/", "/admin/login/")
    return not is_refused or (method == "POST" and address in LEAVING)


def seen(found, client, method):
    return {route for route, address in found.items() if lets_in(client, method, address)}


@pytest.mark.parametrize("rung", LADDER)
def test_each_role_opens_what_the_matrix_allows(rung):
    results, decided, client = addresses(), matrix(), client_of(rung)

    for place, method in enumerate(METHODS):
        may = {
            route
            for route, least in decided.items()
            if least[place] in LADDER[: LADDER.index(rung) + 1]
        }
        assert seen(results, client, method) == may & results.keys(), (rung, method)


def test_the_matrix_covers_every_address():
    found, decided = set(addresses()), set(matrix())

    assert found - decided == set(), f"Decide who gets in, and add a line to {MATRIX}."
    assert decided - found == set(), f"These are gone: remove their lines from {MATRIX}."


def write_matrix():
    """For whoever has many new addresses: as it is now. Read each line before it is kept."""
    routes_by_address = addresses()
    clients = {rung: client_of(rung) for rung in LADDER}
    least = {method: dict.fromkeys(routes_by_address, NOBODY) for method in METHODS}
    for rung in reversed(LADDER):
        for method in METHODS:
            for route in seen(routes_by_address, clients[rung], method):
                least[method][route] = rung
    width = max(map(len, LADDER)) + 1
    lines = [line for line in MATRIX.read_text().splitlines() if line.startswith("#")]
    lines += [
        f"{least['GET'][route]:{width}}{least['POST'][route]:{width}}{route}"
        for route in routes_by_address
    ]
    MATRIX.write_text("\n".join(lines) + "\n")
