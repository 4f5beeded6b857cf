"""Receipts: that tweets were erased from the archive, and when; not which tweets those were.

Of each a receipt has a digest, which tells whoever has the tweet's id that it was among them. So a
database that is restored from a backup of before the erasure knows which of its tweets people had
removed, and the archive does not get them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from trackers.tweets.archive.layout import SCHEMA_VERSION
from trackers.tweets.archive.lease import ArchiveError
from trackers.tweets.archive.models import Installation
from trackers.tweets.archive.store import Store
from trackers.tweets.models import Tweet

# A receipt of so many has some 700 kB.
TWEETS_PER_RECEIPT = 10_000
_COMPARED_AT_ONCE = 10_000
_DIGITS = 32


def digest_of(tweet_id: int, installation: str) -> str:
    """With the installation in it, so that no table of digests fits several archives."""
    return hashlib.sha256(f"{installation} {tweet_id}".encode()).hexdigest()[:_DIGITS]


def write_receipt(store: Store, removed: Mapping[int, datetime]) -> None:
    """Of these tweets, each with the time at which it was removed here."""
    now, names = datetime.now(UTC), Installation.objects.get().names
    receipt = {
        "schema": SCHEMA_VERSION,
        "installations": names,
        "erased_at": now,
        "tweets": len(removed),
        "removed": {digest_of(id, names[0]): at for id, at in sorted(removed.items())},
    }
    with store.writing(f"receipts/{now:%Y%m%dT%H%M%S%fZ}.json") as file:
        file.write(orjson.dumps(receipt))


def removed_elsewhere(store: Store) -> Iterator[int]:
    """The tweets tracked here that were removed after that: of a database that was restored from a
    backup of before. ArchiveError: a receipt is damaged.

    Only receipts of installations that this one was, or that have come of one of those: what
    others removed is nothing to it. A tweet that was tracked anew since stays.
    """
    removed = _removed_by_relatives(store)
    after = -1
    while removed:
        tweets = Tweet.objects.filter(pk__gt=after).order_by("pk")[:_COMPARED_AT_ONCE]
        rows = list(tweets.values_list("pk", "tracked_at"))
        if not rows:
            return
        for id, tracked_at in rows:
            for installation, times in removed.items():
                removed_at = times.get(digest_of(id, installation))
                if removed_at and removed_at > tracked_at:
                    yield id
                    break
        after = rows[-1][0]


def _removed_by_relatives(store: Store) -> dict[str, dict[str, datetime]]:
    """By installation and digest: when it was removed last."""
    own = {name for one in Installation.objects.all() for name in one.names}
    removed: dict[str, dict[str, datetime]] = {}
    for path in store.names("receipts", "*.json") if own else ():
        names, times = _read_receipt(store, path)
        if own.isdisjoint(names):
            continue
        known = removed.setdefault(names[0], {})
        for digest, at in times.items():
            known[digest] = max(at, known.get(digest, at))
    return removed


def _read_receipt(store: Store, path: str) -> tuple[Sequence[str], dict[str, datetime]]:
    try:
        receipt: dict[str, Any] = orjson.loads(store.read(path) or b"")
        names = [str(name) for name in receipt["installations"]]
        times = {
            str(digest): datetime.fromisoformat(at) for digest, at in receipt["removed"].items()
        }
        # Times without a zone, and nobody's receipt.
        if not names or any(at.tzinfo is None for at in times.values()):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ArchiveError(
            f"{path} in {store} is no receipt: get it from another copy, or remove it if the "
            "tweets that it is about may come back."
        ) from None
    return names, times
