"""kill -9 at each step of archiving: nothing is lost, and nothing is there twice."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from itertools import count

import pytest
from django.conf import settings

from tests.conftest import PROJECT
from tests.databases import url_of
from tests.factories import TweetFactory
from tests.tweets.archive.companions import copied, facts_in, fill_checkpoints_of, posted_at
from tests.tweets.archive.killer import CALLS, COMMIT, OURS
from tests.tweets.archive.outside import files_in, remove_file
from tests.tweets.archive.samples import (
    MONTHS,
    as_others_read,
    counted,
    fill,
    here,
    histories_of,
    on_both,
)
from trackers.tweets.archive.check import check_files
from trackers.tweets.archive.models import (
    ArchiveFile,
    ArchiveMonth,
    CompanionFile,
    Installation,
)
from trackers.tweets.checkpoints.models import PackedCheckpoints
from trackers.tweets.models import PackedSamples, Tweet

pytestmark = [pytest.mark.django_db(transaction=True), on_both]
# Far more than there are: the process would never have come to its end.
TOO_MANY = 200


@pytest.fixture
def killer(store):
    url = url_of(settings.DATABASES["default"]["TEST"]["NAME"])
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.tweets.archive.killer"],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": url, "ARCHIVE": settings.ARCHIVE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def archive_until(step):
        process.stdin.write(f"{step}\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    with process:
        yield archive_until
        process.stdin.close()


def let_lease_run_out():
    Installation.objects.update(writes_until="2026-01-01T00:00Z")


@pytest.mark.timeout(300)
def test_killed_at_each_step_nothing_is_lost_or_there_twice(killer, store, request):
    places = set()
    for step in count(1):
        ids = fill(tweets=2, months=MONTHS[:1])
        posted = posted_at(datetime(2024, 11, 30, tzinfo=UTC), 2)
        for id in (*ids, *posted):
            TweetFactory(id=id)
        fill_checkpoints_of(posted)
        expected = histories_of(ids)
        everything = sorted(tuple(run) for runs in expected.values() for run in runs)

        ended = killer(step)

        # What counts is in one of both, and all of it is read.
        assert here() + counted() == len(everything), f"step {step}"
        assert histories_of(ids) == expected, f"step {step}"
        if ended == "exit 0":
            break
        places.add(ended.removeprefix("killed at "))
        assert step < TOO_MANY
        let_lease_run_out()
        assert killer(0) == "exit 0"
        assert here() == 0
        assert histories_of(ids) == expected, f"step {step}"
        # Nothing that does not count is left.
        assert sorted(as_others_read(store)) == everything, f"step {step}"
        assert [row["id"] for row in facts_in(store)] == ids, f"step {step}"
        assert len(copied(store)) == 6, f"step {step}"
        assert [fault for _, fault in check_files(store) if fault] == [], f"step {step}"
        assert not [path for path in files_in(store) if path.endswith(".unfinished")]
        assert not ArchiveMonth.objects.filter(manifest_is_due=True).exists()
        clear(store)
    assert places == CALLS[request.node.callspec.params["store"]] | OURS | {COMMIT}


def clear(store):
    models = (ArchiveFile, CompanionFile, ArchiveMonth, Installation, PackedSamples)
    for model in (*models, PackedCheckpoints, Tweet):
        model.objects.all().delete()
    for path in files_in(store):
        remove_file(store, path)
