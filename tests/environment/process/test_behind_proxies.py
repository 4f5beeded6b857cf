"""The proxies of deploy/ in front of the web server: what anybody may send, and who it delays."""

import re
import subprocess
from contextlib import ExitStack, contextmanager

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
from tests.environment.process.test_deploy import DEPLOY, apache_modules, tool
from trackers.management.commands.demo import free_port, is_listening

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker, tmp_path_factory):
    with web_server("proxied", tmp_path_factory.mktemp("proxied"), django_db_blocker) as running:
        yield running


@contextmanager
def running(command, port, folder):
    with (folder / "proxy.log").open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={"HOME": str(folder), "PATH": "/usr/bin:/bin"}
        )
    try:
        wait_until(
            lambda: is_listening(port) or process.poll() is not None,
            within=PATIENCE,
            what="the proxy listens",
        )
        assert process.poll() is None, (folder / "proxy.log").read_text()
        yield port
    finally:
        # At once, whatever it still waits for.
        process.kill()
        process.wait()


@contextmanager
def nginx(server, folder):
    """The site as in deploy/, without TLS and without the redirect to it."""
    program, port = tool("nginx"), free_port(0)
    site = (DEPLOY / "nginx.conf").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    site = re.sub(r"server \{\s+listen 80;.*?\n\}\n", "", site, flags=re.DOTALL)
    site = re.sub(r"^.*(listen \[::\]|ssl_).*$", "", site, flags=re.MULTILINE)
    site = site.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; worker_processes 1; events {{}}\n"
        f"http {{ access_log off; {paths}\n{site} }}\n"
    )
    with running([program, "-p", folder, "-c", folder / "nginx.conf"], port, folder):
        yield port


@contextmanager
def caddy(server, folder):
    program, port = tool("caddy"), free_port(0)
    site = (DEPLOY / "Caddyfile").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    site = site.replace("watch.example {", f"http://localhost:{port} {{")
    site = site.replace("{\n\tservers", "{\n\tadmin off\n\tservers", 1)
    (folder / "Caddyfile").write_text(site)
    with running([program, "run", "--config", folder / "Caddyfile"], port, folder):
        yield port


@contextmanager
def apache(server, folder):
    """The site as in deploy/, likewise."""
    program, port = tool("apache2"), free_port(0)
    site = (DEPLOY / "apache.conf").read_text()
    site = site.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    site = re.sub(r"<VirtualHost \*:80>.*?</VirtualHost>\n", "", site, flags=re.DOTALL)
    site = re.sub(r"^\s*SSL.*$", "", site, flags=re.MULTILINE)
    site = site.replace("*:443", f"127.0.0.1:{port}")
    (folder / "apache.conf").write_text(
        f"{apache_modules()}\nServerName localhost\nServerRoot {folder}\nPidFile {folder}/pid\n"
        f"Define APACHE_LOG_DIR {folder}\nDefaultRuntimeDir {folder}\n"
        f"Listen 127.0.0.1:{port}\nErrorLog /dev/stderr\n{site}"
    )
    with running([program, "-X", "-f", folder / "apache.conf"], port, folder):
        yield port


@pytest.fixture(scope="module", params=[nginx, caddy, apache], ids=["nginx", "Caddy", "Apache"])
def proxy(request, server, tmp_path_factory):
    """Its port."""
    with request.param(server, tmp_path_factory.mktemp("proxy")) as port:
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
    if request.node.callspec.params["proxy"] is apache:
        pytest.skip("Apache passes no answer on before all of the body has come")
    with connected(proxy) as line:
        begin_file(line, "/sources/import/", TOKEN_COOKIE)

        assert trickle(line, b"x" * 1000)[0] == 302
