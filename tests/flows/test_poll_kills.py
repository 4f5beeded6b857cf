"""kill -9 at every step of a poll: nothing is lost, nothing is doubled, nothing goes unpaid.

The steps are held from outside: by a page that X keeps back, or by a lock in Postgres.
"""

import os
import signal
from collections import Counter
from contextlib import contextmanager

import psycopg
import pytest

from tests.flows.conftest import figures, lives, wait_until

pytestmark = pytest.mark.django_db

COUNT = 330
LEASE = 6.0
SHORT = {"REQUEST_TIMEOUT": "2", "TASK_TIMEOUT": "5"}
AT_ONCE = {"usual_ms": 0, "late_share": 0, "very_late_share": 0}


def prepare(product):
    """An account that was polled once; its id."""
    product.environment |= SHORT
    product.give_credential()
    product.sql("UPDATE trackers_queue SET lease = make_interval(secs => %s)", LEASE)
    [author] = [one for one in product.x.get("authors")["authors"] if one["steady"]][:1]
    adding = ("source", "add", "account", author["username"], "--backfill", "1s")
    added = product.call(*adding, "--json")
    # On a busy machine X may not answer within the short time that it has here.
    wait_until(lambda: product.manage("poll", added["id"]).returncode == 0, what="it is polled")
    return author["id"]


def release(product, author):
    """Some pages of posts appear; the ids of all posts so far."""
    flow = {"authors": [author], "rate": 1e6, "count": COUNT, "lag": AT_ONCE}
    product.x.tell("POST", "posts", flow)
    appeared = product.x.get(f"visible?until_ms={10**15}")["posts"]
    return {int(post["id"]) for post in appeared if post["author_id"] == author}


def poll_now(product):
    product.sql("UPDATE trackers_source SET poll_at = NULL")
    product.sql("UPDATE trackers_pollbucket SET due_at = now() WHERE lease IS NULL")


def stored(product):
    return product.value("SELECT count(*) FROM trackers_sourcetweet")


def under_way(product):
    """How many requests have no reply yet; those of the killed never get one."""
    return product.value("SELECT coalesce(sum(cardinality(under_way)), 0) FROM trackers_window")


def ask(product, latency):
    """Have the poll ask X, which keeps its answer back."""
    before = under_way(product)
    product.x.put("latency", {"ms": latency})
    poll_now(product)
    wait_until(lambda: under_way(product) > before, what="X is asked")


def is_waiting(product):
    """Whether somebody waits for a lock."""
    return product.value(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )


@contextmanager
def locked(product, statement):
    """As long as this lasts a lock is held that the test took."""
    with psycopg.connect(product.environment["DATABASE_URL"]) as other:
        other.execute(statement)
        yield
        other.rollback()


@contextmanager
def before_the_request(product):
    with locked(product, "SELECT FROM trackers_project FOR UPDATE"):
        poll_now(product)
        wait_until(lambda: is_waiting(product), what="the poll waits for its money")
        yield


@contextmanager
def during_the_request(product):
    ask(product, 1_500)
    yield


@contextmanager
def between_pages(product):
    product.x.put("latency", {"ms": 700})
    before = stored(product)
    poll_now(product)
    wait_until(lambda: stored(product) > before, what="a page is stored")
    yield


@contextmanager
def before_the_page_is_stored(product):
    ask(product, 1_000)
    with locked(product, "SELECT FROM trackers_source FOR UPDATE"):
        wait_until(lambda: is_waiting(product), what="the poll waits for its source")
        yield


@contextmanager
def before_the_commit(product):
    """All is written but the jobs of the tweets."""
    with locked(product, "LOCK TABLE trackers_tweetupdate IN SHARE MODE"):
        poll_now(product)
        wait_until(lambda: is_waiting(product), what="the poll waits with its jobs")
        yield


@contextmanager
def after_the_commit(product):
    """The page is stored, and its money is not settled."""
    ask(product, 1_000)
    before = stored(product)
    with locked(product, "SELECT FROM trackers_window FOR UPDATE"):
        wait_until(
            lambda: stored(product) > before and is_waiting(product),
            what="the page is stored",
        )
        yield


# A page that X was asked for and that is not stored is lost: in all but the first and the last.
MOMENTS = [
    before_the_request,
    during_the_request,
    between_pages,
    before_the_page_is_stored,
    before_the_commit,
    after_the_commit,
]


@pytest.mark.parametrize(
    "moments",
    [
        pytest.param([during_the_request, before_the_commit, after_the_commit], id="some"),
        pytest.param(MOMENTS, id="all", marks=pytest.mark.more),
    ],
)
def test_a_poll_survives_a_kill_at_any_moment(product, moments):
    author = prepare(product)
    cluster = product.start_cluster(workers=1)

    for moment in moments:
        name = moment.__name__.replace("_", " ")
        posts = release(product, author)
        [worker] = product.wait_for("worker", cluster=cluster)
        with moment(product):
            os.kill(worker, signal.SIGKILL)
            wait_until(lambda pid=worker: not lives(pid), what=f"the worker died {name}")
        product.x.put("latency", {"ms": 0})
        wait_until(
            lambda posts=posts: has_all(product, posts),
            what=f"the poll that was killed {name} came to its end",
        )
    assert product.stop(cluster) == 0
    check_the_books(product, posts)


def known(product):
    return {id for (id,) in product.sql("SELECT tweet_id FROM trackers_sourcetweet")}


def has_all(product, posts):
    """Whether the poll that was killed is over, and another one, if it began before them, too."""
    if not product.value(
        "SELECT s.sweep IS NULL AND NOT EXISTS ("
        "  SELECT FROM trackers_pollbucket b WHERE b.stamp = p.stamp AND b.lease IS NOT NULL)"
        " FROM trackers_source s JOIN trackers_sourcepoll p ON p.key = s.id"
    ):
        return False
    if known(product) >= posts:
        return True
    poll_now(product)
    return False


def check_the_books(product, posts):
    """Each post is tracked, scheduled and yielded once, and measured once per answer of X."""
    tweets = {id for (id,) in product.sql("SELECT id FROM trackers_tweet")}
    jobs = {id for (id,) in product.sql("SELECT key FROM trackers_tweetupdate")}
    assert tweets == known(product) >= posts
    assert jobs >= posts
    yielded, leaked = product.sql("SELECT yielded, leaked FROM trackers_source")[0]
    assert (yielded, leaked) == (len(tweets), 0)
    assert product.value("SELECT count(*) FROM trackers_sourcepoll WHERE strikes >= 4") == 0
    assert product.value("SELECT count(*) FROM trackers_gap WHERE closed_at IS NULL") == 0

    answers, billed = Counter(), 0
    for entry in product.x.log():
        answers.update(map(int, entry["shown"]))
        answers.update(figures(entry))
        billed += entry["billed_posts"]
    measured = Counter(
        dict(product.sql("SELECT id, measurements FROM trackers_tweet WHERE measurements > 0"))
    )
    for id, count in product.sql(
        "SELECT tweet_id, sum(measurements) FROM trackers_sample GROUP BY tweet_id"
    ):
        measured[id] += int(count)
    assert not measured - answers, "a measurement that X never answered"
    lost = sum((answers - measured).values())
    pages = len(MOMENTS) - 2
    assert lost <= pages * 100, f"{lost} answers were not recorded, of {pages} pages that were lost"
    assert product.value("SELECT sum(posts + posts_reserved) FROM trackers_spending") >= billed
