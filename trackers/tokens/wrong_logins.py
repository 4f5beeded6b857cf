"""Wrong passwords slow down further tries: of an account from an address, an address, an account.

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
FORGOTTEN_AFTER = timedelta(hours=1)
FAILURES_MOST = 1000
SHORTEST = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Kind:
    """`free` wrong passwords cause no wait; then it doubles from a second up to `most`."""

    name: str
    free: int
    most: timedelta

    def wait(self, failures: int) -> timedelta:
        over = failures - self.free
        return min(timedelta(seconds=2 ** min(over, 20)), self.most) if over >= 0 else timedelta(0)


# An account is slowed down gently: its owner, at another address, has to wait as well.
BOTH = Kind("both", 5, timedelta(minutes=5))
ADDRESS = Kind("address", 20, timedelta(minutes=5))
ACCOUNT = Kind("account", 20, timedelta(seconds=30))
KINDS = (BOTH, ADDRESS, ACCOUNT)

LOOK = "SELECT bucket, failures, last_at FROM trackers_wronglogin WHERE bucket = ANY(%(buckets)s)"
COUNT = statement(__file__, "count_login")
SUCCEED = """
    WITH cleared AS (DELETE FROM trackers_wronglogin WHERE bucket = ANY(%(buckets)s))
    UPDATE trackers_wronglogin SET failures = greatest(0, failures - 1)
    WHERE bucket = %(address)s
"""
UNLOCK = """
    DELETE FROM trackers_wronglogin WHERE bucket = %(account)s OR account = %(account)s
        OR bucket = %(address)s
"""


@dataclass(frozen=True, slots=True)
class Tried:
    """Who tries to log in, and from where."""

    account: str
    address: str

    def bucket(self, kind: Kind) -> int:
        who = {"both": (self.account, self.address), "address": (self.address,)}
        told = "\0".join((kind.name, *who.get(kind.name, (self.account,))))
        digest = hmac.digest(settings.SECRET_KEY.encode(), told.encode("utf-8", "replace"), sha256)
        return KINDS.index(kind) * BUCKETS + int.from_bytes(digest[:4]) % BUCKETS


def tried(account: str, address: str) -> Tried:
    """Accounts are compared without case; an IPv6 address counts as its home's network."""
    return Tried(account.strip().casefold()[:200], network_of(address))


def network_of(address: str) -> str:
    try:
        known = ip_address(address)
    except ValueError:
        return address[:100]
    if known.version == 4:
        return str(known)
    mapped = known.ipv4_mapped
    return str(mapped) if mapped else known.exploded[:19]


def wait_of(who: Tried, *, now: datetime) -> timedelta:
    """How long until a password of this one is checked; zero: now."""
    kinds = {who.bucket(kind): kind for kind in KINDS}
    with cursor() as db:
        found = db.execute(LOOK, {"buckets": list(kinds)}).fetchall()
    ends = (
        last_at + kinds[bucket].wait(failures)
        for bucket, failures, last_at in found
        if now - last_at < FORGOTTEN_AFTER
    )
    return max((end - now for end in ends if end > now), default=timedelta(0))


def attempt(who: Tried, *, now: datetime) -> timedelta:
    """Count an attempt; returns how long it must wait. Zero: its password may be checked.

    One that must wait is not counted.
    """
    given = {
        "now": now,
        "forgotten": now - FORGOTTEN_AFTER,
        "most": FAILURES_MOST,
        "buckets": sorted(buckets(who, KINDS)),
        "account": who.bucket(ACCOUNT),
        "free": [kind.free for kind in KINDS],
        "longest": [kind.most for kind in KINDS],
        "size": BUCKETS,
    }
    with transaction.atomic():
        with cursor() as db:
            counted = len(db.execute(COUNT, given).fetchall())
        if counted == len(KINDS):
            return timedelta(0)
        transaction.set_rollback(True)
    return max(wait_of(who, now=now), SHORTEST)


def succeed(who: Tried) -> None:
    """Clear the counts after a right password. For the address, only this attempt: it may have
    tried other accounts in between."""
    given = {"buckets": buckets(who, (BOTH, ACCOUNT)), "address": who.bucket(ADDRESS)}
    with cursor() as db:
        db.execute(SUCCEED, given)


def unlock(account: str, *, address: str = "") -> int:
    """Forget the wrong passwords of an account, from any address, and those of an address."""
    who = tried(account, address)
    given = {
        "account": who.bucket(ACCOUNT),
        "address": who.bucket(ADDRESS) if address else None,
    }
    with cursor() as db:
        return db.execute(UNLOCK, given).rowcount


def buckets(who: Tried, kinds: Iterable[Kind]) -> list[int]:
    return [who.bucket(kind) for kind in kinds]
