"""Wrong passwords and codes slow down further tries: of an account from an address, an address, an
account.

name, address ─> three buckets ─> how long to wait ─> the password is checked, or not yet

A password that comes too early is neither checked nor counted. A bucket is a keyed hash into a
fixed range, so an attacker can neither fill the table nor aim at somebody else's bucket.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address

from django.conf import settings
from django.db import transaction

from tweetwatch.database import cursor
from tweetwatch.statements import statement

# Buckets of each kind; a row is some 40 bytes.
BUCKETS = 1 << 14
_FORGOTTEN_AFTER = timedelta(hours=1)
_MAX_FAILURES = 1000
_MIN_WAIT = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class BucketKind:
    name: str
    free: int  # wrong passwords that cause no wait
    most: timedelta  # it doubles from a second up to this

    def wait(self, failures: int) -> timedelta:
        over = failures - self.free
        return min(timedelta(seconds=2 ** min(over, 20)), self.most) if over >= 0 else timedelta(0)


# An account is slowed down gently: its owner, at another address, has to wait as well.
BOTH = BucketKind("both", 5, timedelta(minutes=5))
ADDRESS = BucketKind("address", 20, timedelta(minutes=5))
ACCOUNT = BucketKind("account", 20, timedelta(seconds=30))
KINDS = (BOTH, ADDRESS, ACCOUNT)

_FIND_BUCKETS = (
    "SELECT bucket, failures, last_at FROM trackers_wronglogin WHERE bucket = ANY(%(buckets)s)"
)
_COUNT_LOGIN = statement(__file__, "count_login")
_CLEAR_FAILURES = """
    WITH cleared AS (DELETE FROM trackers_wronglogin WHERE bucket = ANY(%(buckets)s))
    UPDATE trackers_wronglogin SET failures = greatest(0, failures - 1)
    WHERE bucket = %(address)s
"""
_UNLOCK_ACCOUNT = """
    DELETE FROM trackers_wronglogin WHERE bucket = ANY(%(accounts)s)
        OR account = ANY(%(accounts)s) OR bucket = %(address)s
"""


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """Who tries to log in, and from where."""

    account: str
    address: str

    def bucket(self, kind: BucketKind) -> int:
        who = {"both": (self.account, self.address), "address": (self.address,)}
        text = "\0".join((kind.name, *who.get(kind.name, (self.account,))))
        digest = hmac.digest(settings.SECRET_KEY.encode(), text.encode("utf-8", "replace"), sha256)
        return KINDS.index(kind) * BUCKETS + int.from_bytes(digest[:4]) % BUCKETS


def login_attempt(account: str, address: str) -> LoginAttempt:
    """Accounts are compared without case; an IPv6 address counts as its home's network."""
    return LoginAttempt(account.strip(" ").casefold()[:200], _network_of(address))


def factor_of(account: str) -> str:
    """The account's second factor, as an account of its own. No name of an account has such a
    letter."""
    return f"{account}\n"


def _network_of(address: str) -> str:
    try:
        known = ip_address(address)
    except ValueError:
        return address[:100]
    if known.version == 4:
        return str(known)
    mapped = known.ipv4_mapped
    return str(mapped) if mapped else known.exploded[:19]


def wait_of(who: LoginAttempt, *, now: datetime) -> timedelta:
    """How long until a password of this one is checked; zero: now."""
    kinds = {who.bucket(kind): kind for kind in KINDS}
    with cursor() as db:
        rows = db.execute(_FIND_BUCKETS, {"buckets": list(kinds)}).fetchall()
    ends = (
        last_at + kinds[bucket].wait(failures)
        for bucket, failures, last_at in rows
        if now - last_at < _FORGOTTEN_AFTER
    )
    return max((end - now for end in ends if end > now), default=timedelta(0))


def count_attempt(who: LoginAttempt, *, now: datetime) -> timedelta:
    """Count an attempt; returns how long it must wait. Zero: its password may be checked.

    One that must wait is not counted.
    """
    params = {
        "now": now,
        "forgotten": now - _FORGOTTEN_AFTER,
        "most": _MAX_FAILURES,
        "buckets": sorted(_bucket_numbers(who, KINDS)),
        "account": who.bucket(ACCOUNT),
        "free": [kind.free for kind in KINDS],
        "longest": [kind.most for kind in KINDS],
        "size": BUCKETS,
    }
    with transaction.atomic():
        with cursor() as db:
            counted = len(db.execute(_COUNT_LOGIN, params).fetchall())
        if counted == len(KINDS):
            return timedelta(0)
        transaction.set_rollback(True)
    return max(wait_of(who, now=now), _MIN_WAIT)


def clear_failures(who: LoginAttempt) -> None:
    """Clear the counts after a right password. For the address, only this attempt: it may have
    tried other accounts in between."""
    params = {"buckets": _bucket_numbers(who, (BOTH, ACCOUNT)), "address": who.bucket(ADDRESS)}
    with cursor() as db:
        db.execute(_CLEAR_FAILURES, params)


def unlock_account(account: str, *, address: str = "") -> int:
    """Forget the wrong passwords of an account, from any address, and those of an address."""
    who, factor = login_attempt(account, address), login_attempt(factor_of(account), address)
    params = {
        "accounts": [who.bucket(ACCOUNT), factor.bucket(ACCOUNT)],
        "address": who.bucket(ADDRESS) if address else None,
    }
    with cursor() as db:
        return db.execute(_UNLOCK_ACCOUNT, params).rowcount


def _bucket_numbers(who: LoginAttempt, kinds: Iterable[BucketKind]) -> list[int]:
    return [who.bucket(kind) for kind in kinds]
