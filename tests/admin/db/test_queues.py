"""The knobs of a queue that only its owner can set a bound to."""

from datetime import timedelta

import pytest
from django.utils import timezone

from trackers.jobs.models import Queue

KNOBS = {
    "buffer_ttl": "0s", "lease": "60s", "retry_first": "5s", "retry_most": "10m",
    "arrivals_per_second": "1000",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "most", "sentence"),
    [
        ("tweet:update", 1000, "A batch of tweet:update has 1 to 1,000 keys."),
        ("source:poll", 1, "A batch of source:poll has 1 key."),
        ("import:part", 1, "A batch of import:part has 1 key."),
    ],
)
def test_a_batch_size_over_the_limit_of_the_task_is_refused(staff, name, most, sentence):
    change = f"/admin/trackers/queue/{name.replace(':', '_3A')}/change/"

    refused = staff.post(change, {**KNOBS, "batch_size": str(most + 1)})
    before = Queue.objects.get(pk=name).batch_size
    staff.post(change, {**KNOBS, "batch_size": str(most)})

    assert sentence in refused.content.decode()
    assert before <= most
    assert Queue.objects.get(pk=name).batch_size == most


def test_an_ended_hold_is_hidden_and_times_are_marked_as_utc(staff):
    address = "/admin/trackers/queue/"
    until = timezone.now().replace(microsecond=0) + timedelta(hours=1)
    Queue.objects.filter(name="tweet:update").update(held_until=until, held_reason="X is out")

    page = staff.get(address).content.decode()
    assert "X is out" in page
    assert ">held<" in page
    assert '<td class="field-waits_for_more">2s</td>' in page
    assert f"{until:%Y-%m-%d %H:%M:%S} UTC" in page

    Queue.objects.update(held_until=until - timedelta(hours=2))
    assert "X is out" not in staff.get(address).content.decode()
    assert "X is out" not in staff.get(f"{address}tweet_3Aupdate/change/").content.decode()
