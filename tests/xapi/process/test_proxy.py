"""X is asked through a company's proxy, with certificates that the company signs."""

import socket
import subprocess
import sys
import traceback
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
import requests
from django.apps import apps

from tests.authority import Authority
from tests.connect_proxy import ConnectProxy
from tests.x import OAUTH1, PROJECT
from trackers.credentials.models import Credential
from trackers.xapi.client import look_up
from trackers.xapi.errors import Refused, Unavailable
from trackers.xapi.keys import Secrets
from trackers.xapi.page import Ask
from trackers.xapi.stream import connect
from trackers.xapi.stream_rules import add_rules
from trackers.xapi.timelines import read_page
from trackers.xapi.tokens import new_tokens
from trackers.xapi.wire import network
from trackers.xapi.wire.network import Route
from tweetwatch.servers import Proxy

HOSTS = ("api.x.com", "api.twitter.com")
TIMEOUT = timedelta(seconds=10)
PASSWORD = "hush/pass@word"


class DistantX:
    """A fake X over TLS, which only the proxy reaches; asked by its names."""

    def __init__(self, authority):
        self.authority = authority
        file = authority.certify(*HOSTS, "localhost")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fakex", "--port", "0", "--tls", str(file)],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = urlsplit(self.process.stdout.readline().split()[-1]).port

    def tell(self, method, path, **body):
        url = f"https://localhost:{self.port}/_fake/{path}"
        reply = requests.request(method, url, json=body, verify=self.authority.file, timeout=10)
        reply.raise_for_status()
        return reply.json()

    def close(self):
        self.process.kill()
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def distant_x(authority):
    x = DistantX(authority)
    x.tell("PUT", "credentials", strict=True)
    x.tell("POST", "credentials", kind="oauth1", name="signer", **OAUTH1)
    x.tell("POST", "credentials", kind="bearer", name="app", bearer_token="a-token")
    yield x
    x.close()


@pytest.fixture
def proxy(distant_x):
    proxy = ConnectProxy({f"{host}:443": ("127.0.0.1", distant_x.port) for host in HOSTS})
    yield proxy
    proxy.close()


@pytest.fixture
def go(proxy, authority):
    """Set the way to X; through the proxy, and with its authority, unless told otherwise."""

    def go(*, ca_file=str(authority.file), **named):
        network.use(Route(Proxy("127.0.0.1", proxy.port, **named), ca_file))

    yield go
    network.use(Route())


@pytest.fixture
def signer():
    return Credential(name="signer", kind="oauth1", secrets=Secrets(OAUTH1))


def asking(host=HOSTS[0]):
    return {"base_url": f"https://{host}", "timeout": TIMEOUT}


def refusal(bearer):
    with pytest.raises(Unavailable) as failed:
        look_up(bearer, [20], **asking())
    assert (failed.value.sent, failed.value.maybe_billed) == (False, False)
    assert PASSWORD not in "".join(traceback.format_exception(failed.value))
    return failed.value.reason


@pytest.mark.parametrize("host", HOSTS)
def test_a_signature_is_for_the_requested_name_of_x(go, proxy, signer, host):
    go()

    look_up(signer, [20], **asking(host))

    assert proxy.asked == [f"{host}:443"]


def test_without_a_configured_address_the_first_name_of_x_is_used(go, proxy, signer):
    go()

    look_up(signer, [20], base_url="", timeout=TIMEOUT)

    assert proxy.asked == ["api.twitter.com:443"]


def test_every_request_to_x_goes_through_the_proxy(go, proxy, distant_x, bearer):
    user = {"client_id": "c", "access_token": "a", "refresh_token": "r-1"}
    distant_x.tell("POST", "credentials", kind="oauth2", name="user", **user)
    go()

    look_up(bearer, [20], **asking())
    read_page(bearer, Ask(kind="search", of="#moon"), **asking())
    add_rules(bearer, {"#moon": "ours"}, **asking())
    # A connection for the line of the look-up, one for each of the other two.
    opened = connect(bearer, **asking(), silence=TIMEOUT)
    opened.close()
    list(opened.lines())
    tokens = new_tokens(Secrets(user), **asking())

    assert tokens.secrets["refresh_token"] != "r-1"
    assert proxy.asked == ["api.x.com:443"] * 3


def test_an_authenticating_proxy_gets_its_credentials(go, proxy, bearer):
    proxy.wants = ("Bob Müller", PASSWORD)
    go(user="Bob Müller", password=PASSWORD)

    look_up(bearer, [20], **asking())

    assert proxy.asked == ["api.x.com:443"]


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({}, "asks for a name and a password, and X_PROXY has none (407)."),
        (
            {"user": "bob", "password": PASSWORD},
            "rejects the name and password in X_PROXY (407).",
        ),
    ],
)
def test_a_407_of_the_proxy_is_not_taken_for_x(
    go, proxy, bearer, everything_logged, named, sentence
):
    proxy.wants = ("bob", "another")
    go(**named)

    assert refusal(bearer) == f"The proxy http://127.0.0.1:{proxy.port} {sentence}"
    assert PASSWORD not in everything_logged.text


HTML = b"<html><body>Blocked by hush/pass@word</body></html>"
NO_PROXY_AT_ALL = [
    (b"HTTP/1.1 403 No\r\n\r\n" + HTML, "refuses to connect to api.x.com (403)."),
    (b"HTTP/1.1 502 Bad Gateway\r\n\r\n" + HTML, "could not reach api.x.com (502)."),
    (b"HTTP/1.0 503 " + b"\xff" * 20 + b"\r\n\r\n", "could not reach api.x.com (503)."),
    (HTML, "did not answer like a proxy (BadStatusLine)."),
    (b"", "did not answer like a proxy (RemoteDisconnected)."),
]


@pytest.mark.parametrize(("says", "sentence"), NO_PROXY_AT_ALL)
def test_an_error_of_the_proxy_is_not_taken_for_x(go, proxy, bearer, says, sentence):
    proxy.says = says
    go()

    assert refusal(bearer) == f"The proxy http://127.0.0.1:{proxy.port} {sentence}"


def test_an_unreachable_proxy_is_named(go, bearer):
    network.use(Route(Proxy("127.0.0.1", 1, "bob", PASSWORD)))

    said = "No connection to the proxy http://127.0.0.1:1: Connection refused."
    assert refusal(bearer) == said


def test_a_silent_proxy_is_named(bearer, go):
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        network.use(Route(Proxy("127.0.0.1", port)))

        with pytest.raises(Unavailable) as failed:
            look_up(bearer, [20], base_url="", timeout=timedelta(seconds=0.3))

    assert str(failed.value).startswith(f"The proxy http://127.0.0.1:{port} did not answer within ")
    assert failed.value.sent is False


def test_the_route_follows_the_settings(settings, go):
    settings.X_PROXY, settings.X_CA_FILE = Proxy("proxy.example", 3128), "/etc/ours.pem"

    apps.get_app_config("trackers").ready()

    assert network.current_route() == Route(Proxy("proxy.example", 3128), "/etc/ours.pem")


def test_a_route_shows_no_password():
    text_of_route = Route(Proxy("proxy.example", 3128, "bob", PASSWORD), "/etc/ours.pem")

    assert (
        str(text_of_route)
        == "through the proxy http://proxy.example:3128 as bob, trusting also /etc/ours.pem"
    )
    assert PASSWORD not in f"{text_of_route!r} {text_of_route.proxy!r} {text_of_route.proxy}"


def test_an_answer_of_x_through_a_proxy_is_of_x(go, distant_x, bearer):
    go()
    distant_x.tell("PUT", "credentials", strict=True)
    stranger = Credential(name="b", kind="bearer", secrets=Secrets({"bearer_token": "stranger"}))

    with pytest.raises(Refused, match="401 Unauthorized"):
        look_up(stranger, [20], **asking())


def test_a_private_authority_needs_its_certificate_file(go, bearer):
    go(ca_file="")

    said = refusal(bearer)

    assert said.startswith("No secure connection to X: ")
    assert said.endswith("If a proxy opens TLS on the way, set X_CA_FILE to its certificate.")


def test_a_missing_certificate_file_is_reported(go, bearer, tmp_path):
    go(ca_file=str(tmp_path / "gone.pem"))

    assert refusal(bearer) == f"X_CA_FILE ({tmp_path / 'gone.pem'}) cannot be read any more."


def test_this_machine_is_asked_without_the_proxy(go, proxy, fake, bearer):
    go()

    look_up(bearer, [20], **fake.asking)

    assert proxy.asked == []
