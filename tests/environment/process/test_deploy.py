"""What is in deploy/: each file is read by the program that it is for, where that is here."""

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.core.management import get_commands

from tests.conftest import PROJECT

DEPLOY = PROJECT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
# systemd's own measure, from 0 (safe) to 100.
EXPOSURE_MOST = 25


def tool(name):
    """Where it is, also in a folder for administrators; skips the test where it is not."""
    places = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}:/usr/sbin"
    found = shutil.which(name, path=places)
    if found is None:
        pytest.skip(f"there is no {name} here")
    return found


def ran(*command, **how):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **how)
    return done.returncode, f"{done.stdout}{done.stderr}"


@pytest.fixture
def units(tmp_path):
    """As on a machine where the program is in its place."""
    for unit in UNITS:
        text = unit.read_text()
        for name in ("python", "gunicorn"):
            text = text.replace(f"/srv/tweetwatch/.venv/bin/{name}", sys.executable)
        (tmp_path / unit.name).write_text(text)
    return [tmp_path / unit.name for unit in UNITS]


def test_systemd_reads_the_units_and_finds_nothing_wrong(units):
    assert ran(tool("systemd-analyze"), "verify", "--man=no", *units) == (0, "")


def test_the_services_are_sandboxed(units):
    analyze = tool("systemd-analyze")
    for unit in units:
        if unit.suffix == ".service":
            flags = ("security", "--no-pager", "--offline=true", f"--threshold={EXPOSURE_MOST}")
            status, said = ran(analyze, *flags, unit)
            assert status == 0, said


def test_the_units_start_existing_commands_and_give_them_time_to_stop(settings):
    web, others = (
        (DEPLOY / "systemd" / name).read_text()
        for name in ("tweetwatch-web.service", "tweetwatch@.service")
    )
    for name in re.search(r"# The commands that run for good: (.+)\.", others)[1].split(", "):
        assert name.rpartition("@")[2] in get_commands()
    for text in (web, others):
        assert "KillMode=mixed" in text
        stop = int(re.search(r"TimeoutStopSec=(\d+)", text)[1])
        assert stop >= settings.Q_CLUSTER["timeout"] + 10
        assert stop >= settings.BUS_TOTAL_TIMEOUT.total_seconds() + 10


def certificate(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "watch.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "fullchain.pem").write_bytes(made.public_bytes(pem))
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "privkey.pem").write_bytes(key.private_bytes(pem, *private))


def test_nginx_reads_its_example(tmp_path):
    nginx = tool("nginx")
    certificate(tmp_path)
    text = (DEPLOY / "nginx.conf").read_text()
    site = text.replace("/etc/letsencrypt/live/watch.example/", f"{tmp_path}/")
    # Tested without a right to the ports that it names.
    site = site.replace("listen 80", "listen 18080").replace("listen 443", "listen 18443")
    site = re.sub(r"^.*listen \[::\].*$", "", site, flags=re.MULTILINE)
    whole = tmp_path / "nginx.conf"
    whole.write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {tmp_path}; proxy_temp_path {tmp_path};"
        f" fastcgi_temp_path {tmp_path}; uwsgi_temp_path {tmp_path}; scgi_temp_path {tmp_path};\n"
        f"{site} }}\n"
    )
    status, said = ran(nginx, "-t", "-p", tmp_path, "-c", whole)
    assert status == 0, said
    assert "[warn]" not in said


def test_caddy_reads_its_example(tmp_path):
    caddy = tool("caddy")
    flags = ("validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile")
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "PATH": os.defpath}
    status, said = ran(caddy, *flags, env=home)
    assert status == 0, said
    assert "not formatted" not in said


def apache_modules(*more):
    """The lines that load what the example needs."""
    folder = Path("/usr/lib/apache2/modules")
    names = ("mpm_event", "authz_core", "headers", "proxy", "proxy_http", "reqtimeout", "setenvif")
    return "\n".join(
        f"LoadModule {name}_module {folder}/mod_{name}.so" for name in (*names, "alias", *more)
    )


def test_apache_reads_its_example(tmp_path):
    apache = tool("apache2")
    certificate(tmp_path)
    text = (DEPLOY / "apache.conf").read_text()
    site = text.replace("/etc/letsencrypt/live/watch.example/", f"{tmp_path}/")
    whole = tmp_path / "apache.conf"
    whole.write_text(
        f"{apache_modules('ssl')}\nServerName localhost\nServerRoot {tmp_path}\n"
        f"Define APACHE_LOG_DIR {tmp_path}\nDefaultRuntimeDir {tmp_path}\n"
        f"ErrorLog /dev/stderr\n{site}"
    )
    status, said = ran(apache, "-t", "-f", whole)
    assert (status, said) == (0, "Syntax OK\n")


def test_hadolint_finds_nothing_in_the_dockerfile():
    assert ran(tool("hadolint"), DEPLOY / "Dockerfile") == (0, "")


def test_shellcheck_finds_nothing_in_the_scripts():
    assert ran(tool("shellcheck"), DEPLOY / "entrypoint", DEPLOY / "new-env") == (0, "")


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_docker_itself_reads_the_compose_file(tmp_path):
    docker = tool("docker")
    if ran(docker, "compose", "version")[0] != 0:
        pytest.skip("docker has no compose here")
    (tmp_path / ".env").write_text("POSTGRES_PASSWORD=x\n")
    shutil.copy(DEPLOY / "compose.yaml", tmp_path)
    status, said = ran(docker, "compose", "-f", tmp_path / "compose.yaml", "config", "--quiet")
    assert status == 0, said


def test_the_compose_file_starts_existing_commands_in_order(compose, settings):
    services = compose["services"]
    ours = {name: one for name, one in services.items() if name != "db"}
    assert set(ours) >= {"web", "workers", "stream", "deliver", "bus", "migrate", "backup"}
    for name, service in ours.items():
        assert service["command"][0] in {"web", *get_commands()}, name
        assert service["init"] is True
        assert int(service["stop_grace_period"].rstrip("s")) >= settings.Q_CLUSTER["timeout"] + 10
        if name != "migrate":
            assert service["depends_on"]["migrate"] == {
                "condition": "service_completed_successfully"
            }
    assert services["db"]["image"].startswith("postgres:18")
    # Not /var/lib/postgresql/data: the image of 18 would put the data beside it.
    assert services["db"]["volumes"] == ["database:/var/lib/postgresql"]
    assert set(compose["volumes"]) == {"database", "backups", "uploads"}


def test_compose_and_the_image_set_only_known_variables(compose):
    known = set(re.findall(r"^([A-Z_]+)=", (PROJECT / ".env.example").read_text(), re.MULTILINE))
    for one in compose["services"].values():
        if "env_file" in one:
            assert set(one["environment"]) <= known
    written = re.findall(r"^([A-Z_]+)=", (DEPLOY / "new-env").read_text(), re.MULTILINE)
    assert set(written) - {"POSTGRES_PASSWORD"} <= known


def test_new_env_creates_valid_keys_and_keeps_an_existing_file(tmp_path):
    script = Path(shutil.copy(DEPLOY / "new-env", tmp_path))

    assert ran(script, "watch.example.org")[0] == 0
    text = (tmp_path / ".env").read_text()
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    assert ran(script)[0] == 1
    assert (tmp_path / ".env").read_text() == text

    fields = dict(re.findall(r"^([A-Z_]+)=(.*)$", text, re.MULTILINE))
    assert fields["ALLOWED_HOSTS"] == "localhost,watch.example.org"
    kept = {name: value for name, value in os.environ.items() if name not in fields}
    look = "from django.conf import settings; print(len(settings.FIELD_KEYS), settings.HTTPS)"
    status, output = ran(
        *(sys.executable, "manage.py", "shell", "-v", "0", "-c", look),
        cwd=PROJECT,
        env={**kept, **fields, "DATABASE_URL": "postgres://a:b@127.0.0.1:1/c"},
    )
    assert (status, output.strip().splitlines()[-1]) == (0, "1 True")


def copied_as_into_the_image(folder):
    """What .dockerignore lets through."""
    lines = (PROJECT / ".dockerignore").read_text().splitlines()
    for name in (line[1:] for line in lines if line.startswith("!")):
        source, target = PROJECT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)


@pytest.mark.more
def test_the_files_of_the_image_collect_static_files_and_start(tmp_path):
    """The Dockerfile's own step, where it runs; no key of this machine is in it."""
    copied_as_into_the_image(tmp_path)
    assert not (tmp_path / ".env").exists()
    step = re.search(
        r"RUN (SECRET_KEY=\S+) \\\n +(FIELD_KEYS=\S+) \\\n +\.venv/bin/python (.+)$",
        (DEPLOY / "Dockerfile").read_text(),
        re.MULTILINE,
    )
    env = {"PATH": os.defpath} | dict(one.split("=", 1) for one in step.groups()[:2])

    collected = ran(sys.executable, *step[3].split(), cwd=tmp_path, env=env)

    assert collected == (0, ""), collected
    assert (tmp_path / "staticfiles" / "staticfiles.json").is_file()
    status, said = ran(sys.executable, "manage.py", "qcluster", "--help", cwd=tmp_path, env=env)
    assert status == 0, said


class Healthy(SimpleHTTPRequestHandler):
    def do_GET(self):
        # Behind a proxy with TLS it answers; without one it redirects.
        is_known = self.path == "/healthz" and self.headers["X-Forwarded-Proto"] == "https"
        self.send_response(200 if is_known else 301)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_the_health_check_ends_with_1_unless_the_answer_is_200():
    check = [sys.executable, DEPLOY / "healthy.py"]
    with ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert ran(*check, f"{address}/healthz") == (0, "")
        assert ran(*check, f"{address}/else") == (1, f"{address}/else: 301\n")
        server.shutdown()
    status, said = ran(*check, f"{address}/healthz")
    assert (status, "refused" in said) == (1, True)
