"""Whatever a server sends, nothing but XError leaves, and no frame of it holds a secret."""

import base64
import socket
import threading
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackers.credentials.models import Credential
from trackers.xapi.client import look_up
from trackers.xapi.errors import Garbage, Unavailable, XError
from trackers.xapi.keys import Secrets
from trackers.xapi.results import Lookup
from trackers.xapi.stream import connect
from trackers.xapi.tokens import first_tokens, new_tokens

BEARER = {"bearer_token": "planted-bearer-token"}
SIGNER = {
    "consumer_key": "planted-consumer-key",
    "consumer_secret": "planted-consumer-secret",
    "access_token": "planted-access-token",
    "access_token_secret": "planted-access-token-secret",
}
USER = {
    "client_id": "planted-client",
    "client_secret": "planted-client-secret",
    "access_token": "planted-access",
    "refresh_token": "planted-refresh",
}
PLANTED = [
    *(secret for secrets in (BEARER, SIGNER, USER) for secret in secrets.values()),
    base64.b64encode(b"planted-client:planted-client-secret").decode(),
]
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
REPLIES = {
    "a chunk of -5": CHUNKED + b"1\r\n{\r\n-5\r\n\r\n",
    "a chunk of no size": CHUNKED + b"?\r\n{\r\n",
    "a chunk of too many": CHUNKED + b"f" * 40 + b"\r\n{",
    "a chunk's size without end": CHUNKED + b"1" * 100_000,
    "a status line without end": b"HTTP/1.1 200 " + b"x" * 100_000,
    "a status of letters": b"HTTP/1.1 abc OK\r\n\r\n",
    "a status that is not known": b"HTTP/1.1 799 \xff\xfe\r\nContent-Length: 0\r\n\r\n",
    "a header without end": OK + b"X: " + b"x" * 100_000,
    "a thousand headers": OK + b"X: x\r\n" * 1000 + b"\r\n",
    "a header that is no header": OK + b"\xff\xfe\x00\r\n: \r\n\r\n",
    "a length of letters": OK + b"Content-Length: many\r\n\r\n{",
    "a length too large": OK + b"Content-Length: " + b"9" * 400 + b"\r\n\r\n{}",
    "bad gzip": OK + b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n\x1f\x8b\x08bad...",
    "many codings": OK + b"Content-Encoding: " + b"gzip, " * 50 + b"gzip\r\n\r\n{}",
    "no text": OK + b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x80",
    "nested too deep": OK + b"\r\n" + b"[" * 100_000,
    "an early hint": b"HTTP/1.1 103 Early Hints\r\n\r\n",
    "a switch": b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "what it was sent": b"HTTP/1.1 401 No\r\n\r\n" + " ".join(PLANTED).encode(),
    "nothing": b"",
}


class RawServer:
    """Says the same bytes to each who asks, and hangs up."""

    def __init__(self):
        self.says = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.asking = {"base_url": f"http://127.0.0.1:{port}", "timeout": timedelta(seconds=10)}
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._say, args=[peer], daemon=True).start()

    def _say(self, peer):
        with peer:
            try:
                asked = b""
                while b"\r\n\r\n" not in asked:
                    asked += peer.recv(65536) or b"\r\n\r\n"
                peer.sendall(self.says)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65536):
                    pass
            except OSError:
                return

    def close(self):
        self._listener.close()


@pytest.fixture(scope="module")
def server():
    server = RawServer()
    yield server
    server.close()


def bearer():
    return Credential(pk=21, name="bearer", kind="bearer", secrets=Secrets(BEARER))


def signer():
    return Credential(pk=22, name="signer", kind="oauth1", secrets=Secrets(SIGNER))


def ask_for_lines(asking):
    opened = connect(bearer(), **asking, silence=timedelta(seconds=10))
    assert list(opened.lines()) is not None


ASKS = {
    "a look-up": lambda asking: look_up(bearer(), [20], **asking),
    "a signed one": lambda asking: look_up(signer(), [20], **asking),
    "new tokens": lambda asking: new_tokens(Secrets(USER), **asking),
    "first tokens": lambda asking: first_tokens(
        Secrets({name: USER[name] for name in ("client_id", "client_secret")}),
        Secrets({"code": PLANTED[0], "redirect_uri": "https://x.test", "code_verifier": "v" * 43}),
        **asking,
    ),
    "a stream": ask_for_lines,
}


def what_comes_of(ask, asking):
    try:
        return ask(asking)
    except XError as error:
        return error


def frames_of(error):
    """Each frame that a report of the error could show, its own and those it was raised from."""
    while error is not None:
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename != __file__:
                yield step.tb_frame
            step = step.tb_next
        error = error.__cause__ or error.__context__


def held_by(found):
    if not isinstance(found, XError):
        return []
    shown = [repr(frame.f_locals) for frame in frames_of(found)] + [repr(found.args)]
    return [secret for secret in PLANTED if any(secret in text for text in shown)]


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("reply", REPLIES)
def test_a_malformed_reply_raises_an_x_error_without_secrets(server, ask, reply):
    server.says = REPLIES[reply]

    results = what_comes_of(ASKS[ask], server.asking)

    # A stream ends as it likes; half a line is none.
    assert isinstance(results, XError) or ask == "a stream"
    assert held_by(results) == []


@pytest.mark.parametrize("ask", ASKS)
def test_a_network_error_holds_no_secret(ask):
    asking = {"base_url": "http://127.0.0.1:1", "timeout": timedelta(seconds=5)}

    with pytest.raises(Unavailable) as failed:
        ASKS[ask](asking)

    assert held_by(failed.value) == []


@pytest.fixture
def new_server():
    """To which no connection is open: one that is just being hung up would be used once more."""
    server = RawServer()
    yield server
    server.close()


def test_a_negative_chunk_may_have_been_billed(new_server):
    server = new_server
    server.says = REPLIES["a chunk of -5"]

    with pytest.raises(Garbage) as failed:
        look_up(bearer(), [20], **server.asking)

    assert failed.value.maybe_billed


PIECES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"HTTP/1.1 ", b"200 OK", b"\r\n", b"\r\n\r\n", b"Transfer-Encoding: chunked\r\n",
            b"Content-Length: 5\r\n", b"Content-Encoding: gzip\r\n", b"Date: nonsense\r\n",
            b"x-rate-limit-reset: \xff\r\n", b"-1\r\n", b"5\r\nhello\r\n", b"0\r\n\r\n",
            b'{"data":[', b"\x1f\x8b\x08", b"Connection: close\r\n", b"Retry-After: -1\r\n",
        ]
    ),
)  # fmt: skip


@settings(max_examples=60)
@given(st.sampled_from([b"", OK, CHUNKED]), st.lists(PIECES, max_size=12))
def test_arbitrary_bytes_raise_only_x_errors(server, head, pieces):
    server.says = head + b"".join(pieces)

    found = what_comes_of(ASKS["a look-up"], server.asking)

    assert isinstance(found, XError | Lookup)
    assert held_by(found) == []
