"""The proxies of deploy/ in front of the web server: what anybody may send, and who it delays."""

from contextlib import ExitStack

import pytest

from tests.chaos.ground import wait_until
from tests.environment.connections import (
    FORM,
    PATIENCE,
    THREADS,
    TOKEN_COOKIE,
    begin_file,
    connected,
    head,
    is_healthy,
    trickle,
    web_server,
)
from tests.environment.proxies import PROXIES

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker, tmp_path_factory):
    with web_server("proxied", tmp_path_factory.mktemp("proxied"), django_db_blocker) as running:
        yield running


@pytest.fixture(scope="module", params=PROXIES)
def proxy(request, server, tmp_path_factory):
    """Its port."""
    folder = tmp_path_factory.mktemp("proxy")
    with PROXIES[request.param](server.port, folder) as port:
        wait_until(lambda: is_healthy(port), within=PATIENCE, what="the proxy passes on")
        yield port


def test_forms_that_trickle_through_a_proxy_hold_no_thread(proxy):
    with ExitStack() as held:
        for _ in range(2 * THREADS):
            line = held.enter_context(connected(proxy))
            line.sendall(head("POST", "/login/", FORM, "Content-Length: 50000") + b"a")

        assert is_healthy(proxy)


def test_a_file_through_a_proxy_is_refused_before_it_is_sent(proxy):
    with connected(proxy) as line:
        begin_file(line, "/nowhere/at/all/", TOKEN_COOKIE)

        # Caddy waits for more before it passes an answer on.
        assert trickle(line, b"x" * 1000)[0] in (404, 413)


def test_the_address_of_imports_asks_who_it_is_before_a_file_is_sent(proxy, request):
    if request.node.callspec.params["proxy"] == "apache":
        pytest.skip("Apache passes no answer on before all of the body has come")
    with connected(proxy) as line:
        begin_file(line, "/sources/import/", TOKEN_COOKIE)

        assert trickle(line, b"x" * 1000)[0] == 302
