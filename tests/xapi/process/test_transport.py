"""What a hostile or broken server can do to a request, and what the environment cannot."""

import gzip
import time
from datetime import timedelta
from urllib.parse import parse_qsl

import pytest

from trackers.credentials.models import Credential
from trackers.xapi.client import look_up
from trackers.xapi.errors import Garbage, RateLimited, Unavailable
from trackers.xapi.keys import Secrets

NOTHING = b'{"errors":[]}'


def impatient(peer):
    return {**peer.asking, "timeout": timedelta(seconds=0.6)}


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(b"", id="in the status line"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Long: ", id="in the headers"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", id="in the body"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", id="in a chunk"),
    ],
)
def test_a_server_that_trickles_does_not_outlive_the_time_out(peer, bearer, start):
    peer.says(start, *[b"1"] * 600, every=0.02)
    started = time.monotonic()

    with pytest.raises(Unavailable, match=r"within 0\.6 s"):
        look_up(bearer, [20], **impatient(peer))

    assert time.monotonic() - started < 3


def test_the_time_out_restarts_with_each_request(peer, bearer):
    for _ in range(4):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n"
        peer.says(head, NOTHING, every=0.15)

    for _ in range(4):
        look_up(bearer, [20], **impatient(peer))

    assert peer.accepted == 1


def test_a_connection_is_kept_and_used_again(peer, bearer):
    for _ in range(3):
        peer.says_json(NOTHING)
        look_up(bearer, [20], **peer.asking)

    assert peer.accepted == 1


def test_new_secrets_make_a_new_client(peer):
    for token in ("first", "second"):
        peer.says_json(NOTHING)
        credential = Credential(pk=7, kind="bearer", secrets=Secrets({"bearer_token": token}))
        look_up(credential, [20], **peer.asking)

    assert ["Bearer first" in peer.heard[0], "Bearer second" in peer.heard[1]] == [True, True]


def test_the_request_names_the_host_it_goes_to(peer, bearer):
    peer.says_json(NOTHING)

    look_up(bearer, [20, 21], **peer.asking)

    first, *headers = peer.heard[0].split("\r\n")
    path, _, query = first.split(" ")[1].partition("?")
    asked = dict(parse_qsl(query))
    assert (path, asked.pop("ids")) == ("/2/tweets", "20,21")
    # Nothing else: expansions are billed.
    assert list(asked) == ["tweet.fields"]
    assert [line for line in headers if line.lower().startswith("host:")] == [
        f"Host: {peer.asking['base_url'].removeprefix('http://')}"
    ]


def test_proxies_and_netrc_of_the_environment_are_ignored(peer, bearer, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login other password somebody\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    peer.says_json(NOTHING)

    look_up(bearer, [20], **peer.asking)

    assert "Authorization: Bearer a-token" in peer.heard[0]


def test_cookies_are_not_sent_back(peer, bearer):
    peer.says_json(NOTHING, "Set-Cookie: guest_id=v1; Path=/")
    peer.says_json(NOTHING)

    look_up(bearer, [20], **peer.asking)
    look_up(bearer, [20], **peer.asking)

    assert "cookie" not in peer.heard[1].lower()


PERHAPS_X = (
    "which is not followed, so that no key reaches another host; if this is X, "
    "set X_API_BASE_URL to it."
)
NOT_X = "which is not followed: something on the way to X answered instead of X."


@pytest.mark.parametrize(
    ("location", "where", "advice"),
    [
        ("https://api.x.com/2/tweets?ids=20", "to https://api.x.com", PERHAPS_X),
        ("http://a:b@login.example:8080/?X", "to http://login.example:8080", NOT_X),
        ("/elsewhere", "elsewhere", NOT_X),
        ("https://[::1/\x7f", "elsewhere", NOT_X),
    ],
)
def test_a_redirect_is_named_and_not_followed(peer, bearer, location, where, advice):
    peer.says_json(b"", f"Location: {location}", status="308 Permanent Redirect")

    with pytest.raises(Unavailable) as failed:
        look_up(bearer, [20], **peer.asking)

    assert str(failed.value) == f"308, redirected {where}, {advice}"
    assert len(peer.heard) == 1


def test_an_endless_body_is_garbage(peer, bearer):
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    peer.says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[chunk] * 40)

    with pytest.raises(Garbage, match="larger than 16 MB"):
        look_up(bearer, [20], **peer.asking)


def test_a_body_that_decompresses_to_too_much_is_garbage(peer, bearer):
    peer.says_json(gzip.compress(bytes(64 << 20)), "Content-Encoding: gzip")

    with pytest.raises(Garbage, match="larger than 16 MB"):
        look_up(bearer, [20], **peer.asking)


def test_a_compressed_body_is_decompressed(peer, bearer):
    body = b'{"data":[{"id":"20","public_metrics":{"like_count":7}}]}'
    peer.says_json(gzip.compress(body), "Content-Encoding: gzip")

    assert look_up(bearer, [20], **peer.asking).posts[20].figures.likes == 7


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{}", id="shorter than announced"
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", id="inside a chunk"
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Le", id="inside the headers"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", id="no HTTP"),
        pytest.param(b"HTTP/1.1 999999 \r\n\r\n", id="no status"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
            id="not compressed as announced",
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", id="a negative length"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", id="no content"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_a_malformed_reply_raises_an_x_error(peer, bearer, reply):
    peer.says(reply, None)

    with pytest.raises((Garbage, Unavailable)):
        look_up(bearer, [20], **peer.asking)


@pytest.mark.parametrize("reset", ["soon", "-1", "1e9", "9" * 400, ""])
def test_malformed_rate_headers_are_no_window(peer, bearer, reset):
    body = b'{"title":"Too Many Requests","status":429}'
    headers = (
        "x-rate-limit-limit: 15",
        "x-rate-limit-remaining: 0",
        f"x-rate-limit-reset: {reset}",
    )
    peer.says_json(body, *headers, status="429 Too Many Requests")

    with pytest.raises(RateLimited) as limited:
        look_up(bearer, [20], **peer.asking)

    assert (limited.value.resets_at, limited.value.window) == (None, None)


def test_a_closed_port_is_unavailable(peer, bearer):
    peer.close()

    with pytest.raises(Unavailable, match="No connection to X"):
        look_up(bearer, [20], base_url="http://127.0.0.1:1", timeout=timedelta(seconds=2))


def test_an_untrusted_certificate_is_refused(peer, bearer):
    peer.says(b"no TLS at all", None)
    address = peer.asking["base_url"].replace("http:", "https:")

    with pytest.raises(Unavailable):
        look_up(bearer, [20], base_url=address, timeout=timedelta(seconds=2))
