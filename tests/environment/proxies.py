"""The proxies of deploy/, in front of a web server of the tests."""

import re
import subprocess
from contextlib import contextmanager

from tests.chaos.ground import wait_until
from tests.environment.connections import PATIENCE
from tests.environment.process.test_deploy import DEPLOY, apache_modules, tool
from trackers.management.commands.demo import free_port, is_listening


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
def nginx(behind, folder):
    """The site as in deploy/, without TLS and without the redirect to it. `behind`: a port."""
    program, port = tool("nginx"), free_port(0)
    site = (DEPLOY / "nginx.conf").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{behind}")
    site = re.sub(r"server \{\s+listen 80;.*?\n\}\n", "", site, flags=re.DOTALL)
    site = re.sub(r"^.*(listen \[::\]|ssl_).*$", "", site, flags=re.MULTILINE)
    site = site.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {paths}\n{site} }}\n"
    )
    with running([program, "-p", folder, "-c", folder / "nginx.conf"], port, folder):
        yield port


@contextmanager
def caddy(behind, folder):
    program, port = tool("caddy"), free_port(0)
    site = (DEPLOY / "Caddyfile").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{behind}")
    site = site.replace("watch.example {", f"http://localhost:{port} {{")
    site = site.replace("{\n\tservers", "{\n\tadmin off\n\tservers", 1)
    (folder / "Caddyfile").write_text(site)
    with running([program, "run", "--config", folder / "Caddyfile"], port, folder):
        yield port


@contextmanager
def apache(behind, folder):
    """The site as in deploy/, likewise."""
    program, port = tool("apache2"), free_port(0)
    site = (DEPLOY / "apache.conf").read_text()
    site = site.replace("127.0.0.1:8000", f"127.0.0.1:{behind}")
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


PROXIES = {"nginx": nginx, "caddy": caddy, "apache": apache}
