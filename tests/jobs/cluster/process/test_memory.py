"""What a worker has in memory for itself: what was there before the fork stays shared."""

import re

import pytest

from tests.jobs.cluster.running import poll

pytestmark = pytest.mark.django_db


def test_garbage_collection_copies_no_memory_shared_by_workers(cluster):
    word = cluster.enqueue("collect")
    assert poll(lambda: word in cluster.noted()), cluster.log_text()

    [grew] = re.findall(rf"{word} grew by (-?\d+)", "\n".join(cluster.noted()))
    assert int(grew) < 5_000_000
