"""Whatever dies, and whenever: every tweet is checked again within two leases, none is lost."""

import os
import re
import signal
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from tests.flows.conftest import Product, figures, lives, wait_until

pytestmark = pytest.mark.django_db

LEASE, EVERY, BUFFER_TTL, COUNT = 6.0, 1.5, 0.3, 250
SHORT = {"REQUEST_TIMEOUT": "2", "TASK_TIMEOUT": "5"}


def prepare(product):
    """Some tweets, all looked up every second and a half, by leases of four seconds."""
    product.environment |= SHORT
    product.x.put("world", {"deleted": 0, "protected": 0, "suspended": 0})
    product.give_credential()
    product.call("interval", "set", f"60d={EVERY}s", "--yes")
    product.sql(
        "UPDATE trackers_queue SET lease = make_interval(secs => %s),"
        " buffer_ttl = make_interval(secs => %s), retry_first = '1s', retry_most = '2s'",
        LEASE,
        BUFFER_TTL,
    )
    ids = product.x.ids(COUNT)
    product.track(ids)
    return ids


def asked_since(product, moment):
    return {
        int(id)
        for entry in product.x.log()
        if entry["at_ms"] > moment * 1000
        for id in entry["ids"]
        if entry["endpoint"] == "GET /2/tweets"
    }


def all_asked_again(product, ids, moment):
    wait_until(
        lambda: asked_since(product, moment) >= set(ids),
        within=2 * LEASE + EVERY + BUFFER_TTL + 1,
        what="every tweet was asked for again within two leases",
    )


def check_the_books(product, ids, *, unsaved):
    """No row lost or doubled, nothing recorded twice, and no more unrecorded than was in hand, or
    than came when nobody waited for it any more."""
    assert product.value("SELECT count(*) FROM trackers_tweet") == len(ids)
    assert product.value("SELECT count(*) FROM trackers_tweetupdate") == len(ids)
    assert product.value("SELECT count(*) FROM trackers_tweetupdate WHERE strikes >= 4") == 0
    answers = Counter(id for entry in product.x.log() for id in figures(entry))
    measurements = Counter()
    for table, key in (("trackers_tweet", "id"), ("trackers_sample", "tweet_id")):
        sums = product.sql(f"SELECT {key}, sum(measurements) FROM {table} GROUP BY {key}")
        measurements.update(dict(sums))
    assert not measurements - answers, "a measurement that X never answered"
    lost, late = sum((answers - measurements).values()), given_up(product)
    assert lost <= unsaved + late, f"{lost} answers were not recorded, {late} came too late"


LATE = re.compile(r"gave (\d+) tweets back, .* X did not answer within ")


def given_up(product):
    """Of how many tweets the answer came too late: a busy machine is slower than a time-out."""
    logs = product.logs.glob("cluster*.log")
    return sum(int(count) for log in logs for count in LATE.findall(log.read_text()))


def victim(product, kind, cluster, *, busy=None):
    """The pid of one process of a kind; a worker that has, or has not, a batch in hand."""
    if busy is None:
        return product.wait_for(kind, cluster=cluster)[0]
    wanted = "<>" if busy else "="
    rows = f"SELECT pid FROM trackers_worker WHERE kind = 'worker' AND doing {wanted} ''"
    living = wait_until(
        lambda: [pid for (pid,) in product.sql(rows) if lives(pid)],
        what=f"a worker is {'busy' if busy else 'idle'}",
    )
    return living[0]


@pytest.mark.parametrize(
    ("kind", "busy"),
    [
        pytest.param("worker", False, id="an idle worker", marks=pytest.mark.more),
        pytest.param("worker", True, id="a busy worker"),
        pytest.param("pusher", None, id="the pusher", marks=pytest.mark.more),
        pytest.param("monitor", None, id="the monitor", marks=pytest.mark.more),
    ],
)
def test_a_cluster_survives_the_kill_of(product, kind, busy):
    ids = prepare(product)
    product.x.put("latency", {"ms": 600 if busy else 20})
    cluster = product.start_cluster(workers=2)
    wait_until(lambda: asked_since(product, 0) >= set(ids), what="the first round")

    for _ in range(3):
        os.kill(victim(product, kind, cluster, busy=busy), signal.SIGKILL)
        all_asked_again(product, ids, time.time())

    assert product.stop(cluster) == 0
    check_the_books(product, ids, unsaved=300 if kind == "worker" else 0)


@pytest.mark.parametrize("kind", [pytest.param("sentinel", marks=pytest.mark.more), "main"])
def test_another_cluster_takes_over_after_the_kill_of_the(product, kind):
    ids = prepare(product)
    product.x.put("latency", {"ms": 200})
    doomed, other = product.start_cluster(workers=2), product.start_cluster(workers=1)
    wait_until(lambda: asked_since(product, 0) >= set(ids), what="the first round")
    pid = doomed.pid if kind == "main" else victim(product, "sentinel", doomed)

    os.kill(pid, signal.SIGKILL)

    assert doomed.wait(5) != 0
    all_asked_again(product, ids, time.time())
    assert product.stop(other) == 0
    check_the_books(product, ids, unsaved=200)


@pytest.mark.parametrize(
    "to_the_group",
    [
        pytest.param(False, id="the process", marks=pytest.mark.more),
        pytest.param(True, id="its group"),
    ],
)
def test_a_cluster_ends_without_losing_an_answer_when_sigterm_is_sent_to(product, to_the_group):
    ids = prepare(product)
    product.x.put("latency", {"ms": 300})
    first = product.start_cluster(workers=2)
    wait_until(lambda: asked_since(product, 0) >= set(ids), what="the first round")

    (os.killpg if to_the_group else os.kill)(first.pid, signal.SIGTERM)

    assert first.wait(15) == 0
    check_the_books(product, ids, unsaved=0)
    again = product.start_cluster(workers=2)
    all_asked_again(product, ids, time.time())
    assert product.stop(again) == 0
    check_the_books(product, ids, unsaved=0)


@pytest.mark.more
def test_two_clusters_never_look_up_one_due_time_twice(product):
    ids = prepare(product)
    product.x.put("latency", {"ms": 50})
    clusters = [product.start_cluster(workers=2), product.start_cluster(workers=2)]
    time.sleep(12)
    assert [product.stop(cluster) for cluster in clusters] == [0, 0]

    times = {}
    for entry in product.x.log():
        for id in entry["ids"] if entry["endpoint"] == "GET /2/tweets" else ():
            times.setdefault(int(id), []).append(entry["at_ms"] / 1000)
    gone = {id for id, seen in times.items() if len(seen) == 1}
    gaps = [after - before for seen in times.values() for before, after in pairwise(seen)]
    assert len(gaps) > 3 * (len(ids) - len(gone))
    # An answer is given in the middle of its request, so two of them may be that much closer.
    assert min(gaps) > EVERY * 0.95 - 0.05
    check_the_books(product, ids, unsaved=0)


def postmaster(directory):
    return int(next(Path(directory).rglob("postmaster.pid")).read_text().split()[0])


@pytest.mark.more
def test_a_cluster_survives_the_kill_of_postgres(own_fakex, tmp_path, monkeypatch):
    from tweetwatch.embedded import database_url

    directory = tmp_path / "postgres"
    url = database_url(directory)
    product = Product(url, own_fakex(), tmp_path)
    try:
        assert product.manage("migrate").returncode == 0
        ids = prepare(product)
        cluster = product.start_cluster(workers=2)
        wait_until(lambda: asked_since(product, 0) >= set(ids), what="the first round")

        for _ in range(2):
            os.kill(postmaster(directory), signal.SIGKILL)
            all_asked_again(product, ids, time.time())

        assert product.stop(cluster) == 0
        product.database = psycopg.connect(url, autocommit=True)
        check_the_books(product, ids, unsaved=0)
    finally:
        product.end()
