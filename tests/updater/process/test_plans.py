"""No statement between a claim and its save reads more with more tweets, whatever is due.

Not a list of statements: whatever the product asks the database on that way is explained.
"""

from datetime import timedelta

import pytest
import requests
from django_q.signing import SignedPackage

from tests.factories import CredentialFactory
from tests.large_tables import fill_by
from tests.plans import MODES, watched
from tests.stored_events import subscribe
from trackers import tasks
from trackers.jobs.broker import PostgresBroker
from trackers.jobs.models import Queue
from trackers.money.models import Project
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

TWEETS, TOLD = 100_000, 20_000
# More than a claim takes.
OF_X = 2_500

FILL = (
    "INSERT INTO trackers_author (id, username, name, protected)"
    f" SELECT n, 'name_' || n, '', false FROM generate_series(1, {TOLD}) n",
    "INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history)"
    f" SELECT id, 'said', 'en', '{{}}' FROM trackers_tweet LIMIT {TOLD}",
    "INSERT INTO trackers_tweetversion (id, tweet_id, text) SELECT id + 1, id, 'said'"
    f" FROM trackers_tweet LIMIT {TOLD}",
    "INSERT INTO trackers_project (name, price_of_a_post, price_of_a_user, depleted_reason,"
    " depletions, usage_problem, reserved_for_younger, waiting)"
    " SELECT 'project ' || n, 0, 0, '', 0, '', '[]', 0 FROM generate_series(1, 3) n",
    "INSERT INTO trackers_spending (project_id, day, posts, users, posts_reserved, users_reserved,"
    " money) SELECT id, current_date - n, 1, 0, 0, 0, 0"
    " FROM trackers_project, generate_series(0, 2999) n",
    "INSERT INTO trackers_queuecounters (queue, minute, host, pid, batches, asked, measured,"
    " changed, missing, failed, late) SELECT 'tweet:update', date_trunc('minute', now())"
    " - n * interval '1 minute', 'another', 1, 1, 1, 1, 1, 0, 0, '[]'"
    f" FROM generate_series(1, {TOLD // 2}) n",
    "INSERT INTO trackers_crossing (tweet_id, metric, at, figure, t)"
    f" SELECT id, 'likes', 1000, 1001, 1 FROM trackers_tweet LIMIT {TOLD}",
    "INSERT INTO trackers_event (topic_id, type, t, tweet_id)"
    f" SELECT (SELECT min(id) FROM trackers_topic), 'update', n, n"
    f" FROM generate_series(1, {TOLD}) n",
    "INSERT INTO trackers_staged (received_at, events)"
    f" SELECT now(), ARRAY[n] FROM generate_series(1, {TOLD}) n",
)
# With the tweets; and with the days, slowly.
GROWING = (
    "trackers_tweet",
    "trackers_tweetupdate",
    "trackers_tweetbucket",
    "trackers_author",
    "trackers_tweettext",
    "trackers_tweetversion",
    "trackers_crossing",
    "trackers_event",
    "trackers_staged",
)
WITH_TIME = ("trackers_spending", "trackers_queuecounters")
# X's tweets come before all others: those that were measured and those that nobody knows yet.
TRACK = """
    INSERT INTO trackers_tweet (id, created_at, tracked_at, came_from, paused, missing_reason,
                                taken_at, measured_until, measurements)
    SELECT id, CASE WHEN %(known)s THEN now() END, now(), '', false, '',
           CASE WHEN %(known)s THEN now() - interval '1 hour' END,
           CASE WHEN %(known)s THEN now() - interval '1 hour' END, %(known)s::int
    FROM unnest(%(ids)s::bigint[]) id
"""
LINE_UP = """
    WITH put AS (
        INSERT INTO trackers_tweetupdate (key, due_at, stamp)
        SELECT id, now() - %(late)s, -1 - (row_number() OVER (ORDER BY id)) / 100
        FROM unnest(%(ids)s::bigint[]) id
        ON CONFLICT (key) DO UPDATE SET due_at = excluded.due_at, stamp = excluded.stamp
        RETURNING *
    )
    INSERT INTO trackers_tweetbucket (due_at, stamp, keys)
    SELECT due_at, stamp, array_agg(key) FROM put GROUP BY 1, 2
"""


def run(db, *statements):
    for statement in statements:
        db.execute(statement, prepare=False)


def analyze(db):
    run(db, *(f"ANALYZE {table}" for table in (*GROWING, *WITH_TIME)))


def fill(db):
    fill_by(db, TWEETS, then=())
    run(db, *FILL)


def fresh_statistics(db):
    fill(db)
    analyze(db)


def no_statistics(db):
    """As after a restore, or a first burst."""
    fill(db)


def statistics_of_empty_tables(db):
    """As in the minute after a burst into tables that were at rest."""
    fill(db)
    emptied = (*reversed(GROWING), *WITH_TIME, "trackers_project")
    run(db, *(f"DELETE FROM {table}" for table in emptied))
    analyze(db)
    fill(db)


@pytest.fixture(
    params=[
        fresh_statistics,
        no_statistics,
        statistics_of_empty_tables,
    ]
)
def statistics(request):
    with cursor() as db:
        # Nobody may mend the statistics meanwhile.
        for table in (*GROWING, *WITH_TIME):
            rows = "trackers_event_default" if table == "trackers_event" else table
            run(db, f"ALTER TABLE {rows} SET (autovacuum_enabled = off)")
        request.param(db)
    return request.param.__name__


@pytest.fixture
def x(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=10)
    CredentialFactory(name="one")
    # Where there is a budget its tweet-days are reserved by their age.
    Project.objects.filter(name="one").update(posts_a_month=1_000_000)
    tasks.ration_money()
    return fakex


def track(ids, *, known):
    with cursor() as db:
        db.execute(TRACK, {"ids": list(ids), "known": known})


def line_up(ids, *, late):
    """Due before all others."""
    with cursor() as db:
        db.execute(LINE_UP, {"ids": list(ids), "late": late})


def shown_of(x, ids):
    """Those that X shows, in the order of ids."""
    collected = []
    for first in range(0, len(ids), 100):
        given = ",".join(map(str, ids[first : first + 100]))
        reply = requests.get(
            f"{x.url}/2/tweets?ids={given}", headers={"Authorization": "Bearer a-token"}, timeout=10
        )
        collected += [int(tweet["id"]) for tweet in reply.json()["data"]]
    return sorted(collected)


def one_batch():
    """Claimed by the broker as a cluster's pusher does, and carried out as its worker does."""
    broker = PostgresBroker("tweetwatch")
    found = broker.dequeue() or broker.dequeue()
    [batch] = SignedPackage.loads(found[0][1])["args"]
    tasks.update_tweets(batch)
    return batch


def test_no_statement_of_a_batch_grows_with_the_number_of_tweets(
    statistics, x, monkeypatch, capsys
):
    subscribe("tweets", "milestones")
    ids = sorted(x.ids(2 * OF_X))
    visible = shown_of(x, ids[:OF_X])
    unknown = ids[OF_X:]
    for state, id in zip(("deleted", "suspended", "protected"), unknown, strict=False):
        x.put(f"tweets/{id}", {"state": state})
    track(visible, known=True)
    track(unknown, known=False)

    seen = {}
    line_up(visible, late=timedelta(minutes=30))
    with watched(monkeypatch) as seen["all measured"]:
        batch = one_batch()
    assert set(batch.keys) <= set(visible)
    most = 3 * len(batch.keys)

    line_up(unknown, late=timedelta(minutes=40))
    with watched(monkeypatch) as seen["mixed verdicts"]:
        batch = one_batch()
    assert set(batch.keys) <= set(unknown)

    x.put("faults", [{"kind": "503_json", "times": 100}])
    with watched(monkeypatch) as seen["a failed request"]:
        one_batch()

    x.delete("faults")
    Queue.objects.update(held_until=None, failures=0)
    Project.objects.update(posts_a_month=0)
    with watched(monkeypatch) as seen["no money"]:
        one_batch()

    reached = [one for watch in seen.values() for one in watch.reached]
    growing = [one for one in reached if one.table in GROWING]
    with capsys.disabled():
        print(
            f"\n{statistics}: {len(growing)} ways, at most {max(o.rows for o in growing):.0f} rows"
        )
    # What is known to be on the way was seen, in each kind of plan.
    for mode in MODES:
        tables = {one.table for one in reached if one.mode == mode}
        assert tables >= {*GROWING, *WITH_TIME, "trackers_window", "trackers_queue"}
    assert [one for one in growing if one.rows > most] == []
    # One row tells that there are any.
    walked = [one for one in reached if one.how == "Seq Scan" and one.rows > 1]
    # Of some buckets, all of them due, a claim may as well read all: its limit is known.
    small = {"trackers_tweetbucket"}
    assert [one for one in walked if one.table in {*GROWING, *WITH_TIME} - small] == []
