"""Wrong passwords slow down whoever tries them: an account from an address, an address, an account.

name, address ─> three buckets ─> how long to wait ─> the password is looked at, or not yet

A password that comes too early is not looked at, and counts for nothing. A bucket is a keyed hash
into a fixed range, so an attacker fills no table, and cannot aim at somebody else's bucket.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address

from django.conf import settings

from tweetwatch.database import cursor

# Buckets of each kind; a row is some 40 bytes.
BUCKETS = 1 << 14
FORGOTTEN_AFTER = timedelta(hours=1)
FAILURES_MOST = 1000


@dataclass(frozen=True, slots=True)
class Kind:
    """`free` wrong passwords cost nothing; then the wait doubles from a second to `most`."""

    name: str
    free: int
    most: timedelta

    def wait(self, failures: int) -> timedelta:
        over = failures - self.free
        return min(timedelta(seconds=2 ** min(over, 20)), self.most) if over >= 0 else timedelta(0)


# An account is slowed gently: its owner, at another address, waits as well.
BOTH = Kind("both", 5, timedelta(minutes=5))
ADDRESS = Kind("address", 20, timedelta(minutes=5))
ACCOUNT = Kind("account", 20, timedelta(seconds=30))
KINDS = (BOTH, ADDRESS, ACCOUNT)

LOOK = "SELECT bucket, failures, last_at FROM trackers_wronglogin WHERE bucket = ANY(%(buckets)s)"
# In the order of buckets, so that two failures at once never wait for each other.
FAIL = """
    INSERT INTO trackers_wronglogin AS w (bucket, failures, last_at)
    SELECT bucket, 1, %(now)s FROM unnest(%(buckets)s::int[]) t(bucket) ORDER BY bucket
    ON CONFLICT (bucket) DO UPDATE SET
        failures = CASE WHEN w.last_at < %(forgotten)s THEN 1
                        ELSE least(w.failures + 1, %(most)s) END,
        last_at = excluded.last_at
"""
SUCCEED = "DELETE FROM trackers_wronglogin WHERE bucket = ANY(%(buckets)s)"


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
    """An account in any case is the same one; of IPv6 the network of a home counts."""
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
    """How long until a password of this one is looked at; zero: now."""
    kinds = {who.bucket(kind): kind for kind in KINDS}
    with cursor() as db:
        found = db.execute(LOOK, {"buckets": list(kinds)}).fetchall()
    ends = (
        last_at + kinds[bucket].wait(failures)
        for bucket, failures, last_at in found
        if now - last_at < FORGOTTEN_AFTER
    )
    return max((end - now for end in ends if end > now), default=timedelta(0))


def fail(who: Tried, *, now: datetime) -> None:
    given = {"now": now, "forgotten": now - FORGOTTEN_AFTER, "most": FAILURES_MOST}
    with cursor() as db:
        db.execute(FAIL, {**given, "buckets": buckets(who, KINDS)})


def succeed(who: Tried) -> None:
    """What the right password clears. Not the address: it may try other accounts in between."""
    with cursor() as db:
        db.execute(SUCCEED, {"buckets": buckets(who, (BOTH, ACCOUNT))})


def buckets(who: Tried, kinds: Iterable[Kind]) -> list[int]:
    return [who.bucket(kind) for kind in kinds]
