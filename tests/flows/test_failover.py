"""The primary is killed in mid-batch and its standby promoted: every program goes on there."""

from __future__ import annotations

import re
import time
from collections import Counter
from tempfile import TemporaryDirectory

import pytest
import requests

from tests.api.server import serving
from tests.flows.conftest import Product, figures, wait_until
from tests.postgres_server import PostgresServer

# A claim is not flushed when it is committed: the standby may not have one of the last moment. Its
# worker says so of the answer, and those tweets are looked up again.
CLAIM_GONE = re.compile(r"(\d+) not ours any more")
# No answer is given up because the machine is busy: a worker that waits for a database ends with
# its task, and what it had read is lost with it.
COUNT, LEASE, TASK, REQUEST = 250, 60.0, 55, 40
MEASURED = """
    SELECT id, sum(measurements)::int FROM (
        SELECT id, measurements FROM trackers_tweet
        UNION ALL SELECT tweet_id, measurements FROM trackers_sample) all_of_them
    GROUP BY id
"""


@pytest.fixture
def pair():
    """A primary, and a standby that has what the primary says is committed."""
    with TemporaryDirectory() as one, TemporaryDirectory() as two:
        primary, standby = PostgresServer(one), PostgresServer(two)
        try:
            primary.create()
            standby.follow(f"host=127.0.0.1 port={primary.port}")
            with primary.connect() as admin:
                admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                admin.execute("SELECT pg_reload_conf()")
                followers = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
                wait_until(lambda: admin.execute(followers).fetchone()[0], what="it follows")
            yield primary, standby
        finally:
            standby.stop()
            primary.stop()


def url_of_both(primary, standby):
    hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
    return f"postgres://tw@{hosts}/tw?target_session_attrs=read-write"


def asked_since(product, moment):
    log = [one for one in product.x.log() if one["at_ms"] > moment * 1000]
    return {int(id) for one in log if one["endpoint"] == "GET /2/tweets" for id in one["ids"]}


def claims_gone(log):
    return sum(int(count) for count in CLAIM_GONE.findall(log.read_text()))


def test_programs_go_on_at_the_standby_and_save_every_answer_whose_claim_it_has(
    pair, own_fakex, tmp_path
):
    primary, standby = pair
    url = url_of_both(primary, standby)
    # As the programs do, past the one that can only be read.
    product = Product(url_of_both(standby, primary), own_fakex(), tmp_path)
    product.environment |= {"REQUEST_TIMEOUT": str(REQUEST), "TASK_TIMEOUT": str(TASK)}
    try:
        product.x.put("world", {"deleted": 0, "protected": 0, "suspended": 0})
        migrated = product.manage("migrate")
        assert migrated.returncode == 0, migrated.stderr
        added = product.manage(
            *("credential", "add", "main", "--kind", "bearer"), stdin='{"bearer_token": "t"}'
        )
        assert added.returncode == 0, added.stderr
        assert product.manage("interval", "set", "60d=1.5s", "--yes").returncode == 0
        product.sql(
            "UPDATE trackers_queue SET lease = make_interval(secs => %s), buffer_ttl = '0.3s',"
            " retry_first = '1s', retry_most = '2s'",
            LEASE,
        )
        ids = product.x.ids(COUNT)
        assert (
            product.manage_json("track", "-", "--yes", stdin="\n".join(map(str, ids)))["tracked"]
            == COUNT
        )
        # Long enough that some request is always under way.
        product.x.put("latency", {"ms": 600})
        product.environment["DATABASE_URL"] = product.url = url
        with serving(url, tmp_path / "web.log") as web:
            cluster = product.start_cluster(workers=2)
            wait_until(lambda: asked_since(product, 0) >= set(ids), what="the first round")
            busy = "SELECT count(*) FROM trackers_worker WHERE kind = 'worker' AND doing <> ''"
            wait_until(lambda: product.value(busy), what="a batch is under way")

            primary.kill()
            standby.promote()

            moment = time.time()
            wait_until(
                lambda: asked_since(product, moment) >= set(ids),
                within=3 * LEASE,
                what="every tweet is asked for again",
            )
            ready = f"http://127.0.0.1:{web.port}/readyz"
            wait_until(
                lambda: requests.get(ready, timeout=60).status_code == 200, what="pages are ready"
            )
            assert product.stop(cluster, within=LEASE) == 0

        product.database = product.connect()
        answers = Counter(id for entry in product.x.log() for id in figures(entry))
        measured = Counter(dict(product.sql(MEASURED)))
        assert measured - answers == Counter()
        unsaved = answers - measured
        assert unsaved.total() <= claims_gone(tmp_path / "cluster0.log") <= COUNT
        days_billed = product.x.get("totals")["billed"].values()
        # As the ledger counts: what a crash left reserved stays spent.
        posts = product.value("SELECT sum(posts + posts_reserved)::int FROM trackers_spending")
        assert posts >= sum(sum(days.values()) for days in days_billed) > 0
        assert product.value("SELECT count(*) FROM trackers_tweetupdate WHERE strikes > 0") == 0
        assert product.value("SELECT count(*) FROM trackers_tweetupdate") == COUNT
    finally:
        product.end()
        for log in sorted(tmp_path.glob("*.log")):
            print(f"--- the end of {log.name}", *log.read_text().splitlines()[-60:], sep="\n")
