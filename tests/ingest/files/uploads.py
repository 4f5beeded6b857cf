"""Files as people upload them, and the parts of an import done as a worker does them."""

import io
import json
from datetime import UTC, datetime, timedelta

from django.db.models import F
from django.utils import timezone

from trackers import tasks
from trackers.ingest.files import importing
from trackers.ingest.files.models import ImportBucket
from trackers.ingest.files.upload import upload_file
from trackers.jobs import queue

# Ids as X gave them out in 2023.
FIRST = 1_650_000_000_000_000_000
A, B, C = FIRST, FIRST + 1, FIRST + 2


def upload(data, *, name="tweets.txt"):
    data = data.encode() if isinstance(data, str) else data
    return upload_file(io.BytesIO(data), name=name, owner="ada", size=len(data))


def started(data):
    report = upload(data)
    importing.start(report, column=None, referenced=False)
    return report


def work():
    """Every part that is due in a minute, as the cluster hands them out; how many.

    In a test's transaction the database's clock stands still, so the parts are moved instead.
    """
    minute = timedelta(minutes=1)
    waiting = ImportBucket.objects.filter(lease=None, due_at__lt=timezone.now() + minute)
    waiting.update(due_at=F("due_at") - minute)
    count = 0
    while batch := queue.claim_batch("import:part"):
        tasks.import_part(batch)
        count += 1
    return count


def imported(data, *, column=None, referenced=False, name="tweets.txt"):
    """The report of a file that was uploaded, started and imported."""
    report = upload(data, name=name)
    report.refresh_from_db()
    importing.start(report, column=column or int(report.column or 0) or None, referenced=referenced)
    work()
    report.refresh_from_db()
    return report


def counts(report):
    return report.read, report.tracked, report.already, report.rejected


def bad_lines(report):
    return list(report.source.rejected_lines.filter(tracked=False).values_list("line", flat=True))


def v2_tweet(n, *, bulk=2000, **fields):
    """A tweet as twarc flattens it: some 2 kB, fetched a day after its birth."""
    id = str(FIRST + n * 4_194_304)
    at = datetime(2023, 5, 4, 10, tzinfo=UTC).isoformat()
    urls = [{"expanded_url": "https://example.com/" + "x" * 100}] * max(0, (bulk - 560) // 140)
    return {
        "id": id,
        "text": "words " * 20,
        "author_id": str(n % 5000 + 1),
        "created_at": "2023-05-03T10:00:00.000Z",
        "lang": "en",
        "edit_history_tweet_ids": [id],
        "public_metrics": {
            "retweet_count": 1, "reply_count": 2, "like_count": n % 100,
            "quote_count": 0, "bookmark_count": 0, "impression_count": n,
        },
        "entities": {"urls": urls},
        "__twarc": {"retrieved_at": at},
        **fields,
    }  # fmt: skip


def v2_lines(count):
    for n in range(count):
        yield json.dumps(v2_tweet(n)) + "\n"
