"""A push service on this machine, and a browser that it knows: what it decrypts by RFC 8291."""

import json
import os
import struct
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from trackers.channels.shapes.browser import decode, encode

POINT = (serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def derive(secret, salt, info, length):
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


class Browser:
    """Its keys, and what it makes of a body."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)
        self.point = self.key.public_key().public_bytes(*POINT)

    @property
    def keys(self):
        return {"p256dh": encode(self.point), "auth": encode(self.auth)}

    def read(self, body):
        salt, (size, length) = body[:16], struct.unpack("!IB", body[16:21])
        point, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= size
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        shared = self.key.exchange(ec.ECDH(), theirs)
        ikm = derive(shared, self.auth, b"WebPush: info\0" + self.point + point, 32)
        key = derive(ikm, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derive(ikm, salt, b"Content-Encoding: nonce\0", 12)
        text = AESGCM(key).decrypt(nonce, record, None)
        assert text.endswith(b"\x02"), "the last record"
        return json.loads(text[:-1])


def claims_of(authorization, audience):
    """Who asks (RFC 8292): what the signature covers, checked with the key that it names."""
    scheme, _, rest = authorization.partition(" ")
    assert scheme == "vapid"
    given = dict(one.strip().split("=", 1) for one in rest.split(","))
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(given["k"]))
    return jwt.decode(given["t"], key, algorithms=["ES256"], audience=audience), given["k"]


class PushService(ThreadingHTTPServer):
    """`status`: what it answers. `got`: headers and bodies."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.status, self.got = 201, []

    @property
    def place(self):
        return f"127.0.0.1:{self.server_port}"

    @property
    def endpoint(self):
        return f"http://{self.place}/send/a-secret-of-the-browser"


class Answering(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def push_service():
    service = PushService()
    thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()
        thread.join()
