"""Every address by every role: who gets in, by GET and by POST, as `matrix.txt` says.

The addresses are those of the URL conf, so a new one fails until somebody decides who gets in. For
each method the matrix names the least of LADDER that does; `nobody` of it is let in by an account,
but by a key, or by a token (`test_programs.py`), or there is no such method. At a feed it is the
account's secret address that gets in, or not.

Each address is asked by the least that it lets in and by the rung below. These two decide for all,
since an account's rights alone do, and each rung has those of the rung below.
"""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver
from django.utils import timezone

from tests.alerts.mail_servers import server
from tests.api.conftest import end
from tests.conftest import PROJECT
from trackers import roles
from trackers.dashboards import urls
from trackers.ingest.sources.models import Source
from trackers.saved_views.models import SavedView
from trackers.timelines.followers import own
from trackers.tokens.feed_addresses import make_address

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
    "sources/<int:id>/<str:act>": [
        "poll",
        "pause",
        "resume",
        "full-archive",
        "count",
        "count-lost",
    ],
    "alerts/channels/<int:id>/<str:act>": ["test", "mute", "unmute", "remove"],
    "alerts/<int:id>/<str:act>": [
        "test",
        "on",
        "off",
        "mute-hour",
        "mute-day",
        "unmute",
        "remove",
    ],
    "subscribers/<int:id>/<str:act>": ["pause", "resume", "test", "remove", "redeliver"],
    "following/<str:act>": ["follow", "unfollow"],
    "columns/<int:id>/<str:act>": ["left", "right", "remove"],
}
# These give and show roles; they decide by rights as all others do.
NAME_ROLES = {
    "trackers/admin/people.py",
    "trackers/dashboards/account/provider.py",
    "trackers/dashboards/account/views.py",
    "trackers/management/commands/user.py",
    "trackers/roles.py",
}


@pytest.fixture(autouse=True)
def _sends_mail(settings):
    """Without a mail server, some pages are closed to all."""
    settings.EMAIL_SERVER = server(25)


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


def user_of(rung):
    user = User.objects.create_user(
        rung, password=rung, is_staff=rung == ROOT, is_superuser=rung == ROOT
    )
    if rung in roles.ROLES:
        roles.give(user, rung)
    return user


def client_of(rung):
    client = Client()
    client.secret, client.reader = "of nobody", None
    if rung != ANYBODY:
        user = user_of(rung)
        client.secret = make_address(own(user).pk, user.pk, now=timezone.now())
        client.reader = user
        client.force_login(user)
    return client


def reads_feed(client, method, address):
    """With the address that the account has once made."""
    with transaction.atomic():
        source = Source.objects.create(kind="account", of="nasa")
        if client.reader:
            SavedView.objects.create(pk=source.pk, user=client.reader, name="Launch")
        path = address.replace("/x/", f"/{client.secret}/")
        answer = Client().generic(
            method, path.replace(STANDS_FOR["int"], str(source.pk)), secure=True
        )
        transaction.set_rollback(True)
    assert answer.status_code in (200, 404, 405)
    return answer.status_code == 200


def lets_in(client, method, address):
    """Whatever it does is undone, and the account stays logged in."""
    if address.startswith("/feeds/x/"):
        return reads_feed(client, method, address)
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


def rung_below(least):
    """The highest that does not get in where `least` is the least that does."""
    return LADDER[-1] if least == NOBODY else LADDER[LADDER.index(least) - 1]


@pytest.mark.parametrize("rung", LADDER)
def test_the_least_role_of_the_matrix_gets_in_and_the_one_below_does_not(rung):
    results, decided, client = addresses(), matrix(), client_of(rung)

    for place, method in enumerate(METHODS):
        may = {route for route, least in decided.items() if least[place] == rung}
        may_not = {
            route
            for route, least in decided.items()
            if least[place] != ANYBODY and rung_below(least[place]) == rung
        }
        asked = {route: results[route] for route in results if route in may | may_not}
        assert seen(asked, client, method) == may & results.keys(), (rung, method)


def rights(rung):
    """What views read of an account: its being one, and of the admin, and what it may do."""
    user = client_of(rung).get("/account/", secure=True).wsgi_request.user
    flags = {name for name in ("is_active", "is_staff", "is_superuser") if getattr(user, name)}
    return flags | user.get_all_permissions()


def test_each_rung_has_the_rights_of_the_rung_below():
    of_rungs = list(map(rights, LADDER))

    assert of_rungs[0] == set()
    for lower, higher in pairwise(of_rungs):
        assert lower < higher


def test_no_view_asks_for_a_role_by_its_name():
    """Whoever asks for a right instead lets in all who have it."""
    roles_by_name = re.compile(r"\b(?:OWNER|OPERATOR|VIEWER|roles_of|IN_THE_ADMIN)\b")
    asking = {
        str(path.relative_to(PROJECT))
        for path in (PROJECT / "trackers").rglob("*.py")
        if roles_by_name.search(path.read_text())
    }

    assert asking == NAME_ROLES


def test_no_page_opens_to_a_role_without_its_permission():
    """What the page does may take more."""
    decided = matrix()
    permissions = {
        f"/{page.pattern}": page.callback.permission
        for page in urls.urlpatterns
        if hasattr(page.callback, "permission")
    }

    for route in permissions.keys() & decided.keys():
        least = LADDER.index(roles.least_with(permissions[route]))
        for decision in decided[route]:
            assert decision == NOBODY or LADDER.index(decision) >= least, route


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
