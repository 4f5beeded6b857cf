"""The life of a source: added, changed, paused, resumed, polled now, removed.

Locks: the row of the poll's job, then the source's, as a poll's step takes them. Each of these adds
one to the source's version, so that a poll already under way writes nothing more.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from trackers.arrivals.arrive import wake
from trackers.ingest.files.models import ImportJob, ImportPart
from trackers.ingest.sources.anew import NAMED, READ_SO_FAR, begin_anew, clear_fields
from trackers.ingest.sources.models import Source, SourcePoll
from trackers.ingest.sources.naming import is_same
from trackers.jobs import queue
from trackers.jobs.queue import Batch
from trackers.notes.models import Note, drop_notes
from trackers.schedule.intervals import current
from tweetwatch.database import cursor

_POLL = SourcePoll.queue
_NO_DELAY = timedelta(0)
# What it leaves out: posts that were left out until now have not slipped through.
_LEFT_OUT = frozenset({"exclude_replies", "exclude_retweets"})
# Its former account, until X has said whose the new name is.
_WAS = ("was_account_id", "was_of")

# What is claimed is already being polled.
_POLL_NOW = """
    WITH put AS (
        INSERT INTO {job} (key, due_at, stamp)
        SELECT id, now(), %(stamp)s FROM trackers_source
        WHERE id = ANY(%(ids)s::bigint[]) AND paused_at IS NULL AND kind = ANY(%(kinds)s)
        ORDER BY id
        ON CONFLICT (key) DO UPDATE
        SET due_at = least({job}.due_at, now()), stamp = excluded.stamp, strikes = 0
        WHERE NOT {claimed}
        RETURNING *
    ),
    found AS ({into_buckets})
    SELECT count(*) FROM put
"""

# One source's poll, for a process that wants this very one. A bucket of polls holds one key.
_CLAIM = """
    UPDATE {bucket} b
    SET due_at = now() + n.lease, lease = %(lease)s
    FROM trackers_queue n
    WHERE n.name = %(queue)s AND (b.lease IS NULL OR b.due_at <= now())
      AND b.stamp = (SELECT stamp FROM {job} WHERE key = %(key)s)
      AND b.keys = ARRAY[%(key)s]::bigint[]
    RETURNING now(), b.due_at, n.task
"""


def add_source(source: Source) -> None:
    """Save a new source; one that is polled is polled at once."""
    with transaction.atomic():
        source.save(force_insert=True)
        if source.is_polled and source.paused_at is None:
            queue.schedule(_POLL, source.pk, _NO_DELAY)


def change_source(source: Source, fields: Collection[str]) -> str:
    """Save these fields of it, as a person changed them, and no others; then poll it.

    What it has read so far is kept while its origin is the same. Returns a sentence for the user if
    the origin has changed; else an empty one.
    """
    before = Source.objects.get(pk=source.pk)
    fields = [name for name in fields if getattr(source, name) != getattr(before, name)]
    if not fields:
        return ""
    message = ""
    with transaction.atomic():
        queue.remove_keys(_POLL, [source.pk])
        before = Source.objects.select_for_update(no_key=True).get(pk=source.pk)
        # The caller's copy may be some polls old.
        for name in (*NAMED, *READ_SO_FAR, *_WAS):
            setattr(source, name, getattr(before, name))
        source.poll_at = None
        ours = {"poll_at"}
        if not {"kind", "of"}.isdisjoint(fields) and not _is_same_source(before, source):
            message = _rename(source, before, now=current()[0])
            ours.update(NAMED, READ_SO_FAR, _WAS)
        if _LEFT_OUT.intersection(fields) and source.latest_id is not None:
            source.begun_id = source.latest_id
            ours.add("begun_id")
        source.save(update_fields=[*fields, *ours])
        Source.objects.filter(pk=source.pk).update(version=F("version") + 1)
        if source.has_polls and before.paused_at is None:
            queue.schedule(_POLL, source.pk, _NO_DELAY)
    return message


def _is_same_source(before: Source, after: Source) -> bool:
    """Names of accounts are compared without case: X may have given its name in another case."""
    return before.kind == after.kind and any(
        is_same(after.kind, name, after.of) for name in (before.of, before.username)
    )


def _rename(source: Source, before: Source, *, now: datetime) -> str:
    """Its name has changed. It may be the same account, renamed: X is asked first
    (`polls.resolve`), and until then what was read of it is kept."""
    account = before.was_account_id or before.account_id
    if source.kind != before.kind or account is None:
        message = begin_anew(source, was_of=before.of, now=now)
        clear_fields(source, NAMED)
        return message
    source.was_account_id, source.was_of = account, before.was_of or before.of
    clear_fields(source, NAMED)
    return (
        "X will be asked whose name this is. If it is not the account that was "
        f"“{source.was_of}”, the source starts over, and unread posts of that account are "
        "given up."
    )


def pause_sources(ids: Iterable[int]) -> int:
    """Request nothing more until they are resumed; returns how many were not paused before.

    A reading under way continues later where it stopped.
    """
    ids = sorted(ids)
    with transaction.atomic():
        queue.remove_keys(_POLL, ids)
        return (
            Source.objects.filter(pk__in=ids)
            .active()
            .update(paused_at=Now(), version=F("version") + 1)
        )


def resume_sources(ids: Iterable[int]) -> int:
    """Poll them again, starting now; returns how many were paused."""
    with transaction.atomic():
        paused = Source.objects.filter(pk__in=list(ids)).exclude(paused_at=None)
        sources = {source.pk: source for source in paused.order_by("pk")}
        for source in sources.values():
            if source.has_polls:
                queue.schedule(_POLL, source.pk, _NO_DELAY)
        return (
            Source.objects.filter(pk__in=sources)
            .exclude(paused_at=None)
            .update(paused_at=None, poll_at=None, problem="", failures=0, version=F("version") + 1)
        )


def poll_now(ids: Iterable[int]) -> int:
    """Make their next polls due now; returns how many there are. Paused sources are left alone."""
    ids, kinds = sorted(ids), [*Source.POLLED, Source.Kind.STREAM]
    with transaction.atomic(), cursor() as db:
        params = {"ids": ids, "kinds": kinds, "stamp": queue.new_stamp()}
        row = db.execute(queue.on(_POLL, _POLL_NOW), params).fetchone()
        assert row is not None
        Source.objects.filter(pk__in=ids).active().polled().update(poll_at=None)
    return int(row[0])


def remove_sources(ids: Iterable[int]) -> int:
    """Forget the sources, their gaps and what they yielded; the tweets stay tracked."""
    ids = sorted(ids)
    with transaction.atomic():
        queue.remove_keys(_POLL, ids)
        parts = ImportPart.objects.filter(source__in=ids).values_list("pk", flat=True)
        queue.remove_keys(ImportJob.queue, parts)
        sources = list(Source.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
        Source.objects.filter(pk__in=[source.pk for source in sources]).delete()
        drop_notes(Note.Kind.SOURCE, [source.pk for source in sources])
        # A worker removes their followers.
        wake(source.pk for source in sources)
        return len(sources)


def claim_poll(id: int) -> Batch | None:
    """Claim the poll of this source, whenever it is due; None: it is claimed, or has none."""
    # Random, like the leases of the queue.
    lease = secrets.randbits(63)
    params = {"queue": _POLL, "key": id, "lease": lease}
    with cursor() as db:
        row = db.execute(queue.on(_POLL, _CLAIM), params).fetchone()
    if row is None:
        return None
    now, expires_at, task = row
    return Batch(lease, (id,), now, expires_at, _POLL, task, claimed_at=now)
