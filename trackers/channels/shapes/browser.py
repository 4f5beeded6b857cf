"""A browser that its person asked to be told in: Web Push.

RFC 8030 (the request: TTL, Urgency; 201; 404 and 410: the subscription is over; 429), RFC 8291 and
8188 (the body, for this browser's key alone) and RFC 8292 (VAPID: who asks), read 2026-11-28. A
service takes at least 4,096 bytes. `pywebpush` would bring requests, six and two more, and sleeps
on sockets that the egress guard does not see: `cryptography`, which is here, has all of it.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import time
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from trackers.channels.message import Markup, Message, fitted, one_line, utf8
from trackers.channels.shapes.shape import Part, Parts, ServiceShape, host_of
from trackers.events.delivery.call import Call

_BROWSER_BYTES = 3000
_RECORD_SIZE = 4096
_SECRET_BYTES = 16
_DAY_SECONDS, _HALF_DAY = 86_400, 43_200
_BASE64URL = r"[-_A-Za-z0-9]+"
_TEXT = Markup(escape=lambda text: text, link="{text}", bullet="")
_POINT = (serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def new_push_key() -> str:
    """The private key by which push services know this installation."""
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return encode(number.to_bytes(32, "big"))


def public_push_key(private: str) -> str:
    """What a browser takes as `applicationServerKey`."""
    return encode(_key_of(private).public_key().public_bytes(*_POINT))


def are_push_keys(p256dh: str, auth: str) -> bool:
    """Whether they are a point on the curve, and a secret."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(p256dh))
        return len(decode(auth)) == _SECRET_BYTES
    except ValueError:
        return False


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _key_of(private: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(decode(private), "big"), ec.SECP256R1())


def _encrypted(text: bytes, p256dh: str, auth: str) -> bytes:
    """The body for this browser alone, in one record."""
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(p256dh))
    ours, salt = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    our_point, their_point = (key.public_bytes(*_POINT) for key in (ours.public_key(), theirs))
    info = b"WebPush: info\0" + their_point + our_point
    ikm = _derive(ours.exchange(ec.ECDH(), theirs), decode(auth), info, 32)
    key = _derive(ikm, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(ikm, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + struct.pack("!IB", _RECORD_SIZE, len(our_point)) + our_point
    # The last record ends with a two.
    return head + AESGCM(key).encrypt(nonce, text + b"\x02", None)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


def _signed(claims: dict[str, object], key: ec.EllipticCurvePrivateKey) -> str:
    """A JWT by ES256. PyJWT would make it too, and takes 20 ms of each command's start."""
    said = ".".join(
        encode(json.dumps(one).encode()) for one in ({"typ": "JWT", "alg": "ES256"}, claims)
    )
    numbers = decode_dss_signature(key.sign(said.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{said}.{encode(b''.join(one.to_bytes(32, 'big') for one in numbers))}"


def _push_request(parts: Parts, message: Message, key: str) -> Call:
    [first, *others] = message.lines
    text = fitted(message, _body_text, most=_BROWSER_BYTES, size=utf8)
    notification = {
        "title": one_line(message.title, 120),
        "body": text,
        "url": message.log if others else first.url,
        # One that is sent again takes the place of the first.
        "tag": key,
    }
    at = urlsplit(parts["endpoint"])
    claims: dict[str, object] = {
        "aud": f"{at.scheme}://{at.netloc}",
        "exp": int(time.time()) + _HALF_DAY,
        "sub": message.log,
    }
    token = _signed(claims, _key_of(parts["vapid"]))
    headers = {
        "TTL": str(_DAY_SECONDS),
        "Urgency": "high",
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "Authorization": f"vapid t={token}, k={public_push_key(parts['vapid'])}",
        "User-Agent": "tweetwatch",
        "Accept-Encoding": "identity",
    }
    body = _encrypted(json.dumps(notification).encode(), parts["p256dh"], parts["auth"])
    return Call("POST", parts["endpoint"], headers, body, of=key)


def _body_text(message: Message) -> str:
    """The title is shown by itself, and a message has one address."""
    return _TEXT.written(replace(message, mute="")).partition("\n")[2]


BROWSER = ServiceShape(
    label="A browser",
    parts=(
        Part("endpoint", "Endpoint", "The browser gives it.", is_url=True),
        Part("p256dh", "Public key", "The browser gives it.", pattern=_BASE64URL),
        Part("auth", "Secret", "The browser gives it.", pattern=_BASE64URL),
        Part("vapid", "Key of this installation", "Made here.", pattern=_BASE64URL),
    ),
    request=_push_request,
    every=timedelta(seconds=1),
    gone=frozenset((404, 410)),
    shown=lambda parts: host_of(parts["endpoint"]),
    is_typed=False,
)
