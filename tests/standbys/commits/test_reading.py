"""Reading on a connection of its own that cannot write, beside the primary's. Here both lead to one
server: `tests/standbys/process` has real standbys."""

import time

import psycopg
import pytest
from django.db import InternalError, OperationalError, connection
from django.http import StreamingHttpResponse
from psycopg.errors import QueryCanceled, ReadOnlySqlTransaction

from tests.databases import url_of
from trackers.standbys import reading
from trackers.standbys.beat import beat_of_primary
from trackers.standbys.places import LogPlace, primary_place
from trackers.standbys.reading import AskPrimary, is_on_standby, read
from tweetwatch.database import cursor
from tweetwatch.database_settings import STANDBY_POOL, read_settings

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _standby(settings, monkeypatch):
    names = ("ENGINE", "NAME", "USER", "PASSWORD", "HOST", "PORT")
    database = {name: connection.settings_dict[name] for name in names}
    settings.READ_DATABASE = read_settings(
        database, pool=STANDBY_POOL, statement_timeout=0, prepare=True
    )
    monkeypatch.setattr(reading, "availability", reading.Availability())
    beat_of_primary(connection)
    # The first connection is made in the background.
    end = time.monotonic() + 60
    while read(is_on_standby)[0] is False:
        assert time.monotonic() < end, "no connection came"
    yield
    reading._new_connection("standby").close_pool()


class Act:
    """Something that reads; it keeps where it was called."""

    def __init__(self, statement="SELECT 'here'", *, at_standby=None):
        self.statement, self.at_standby, self.places = statement, at_standby, []

    def __call__(self):
        self.places.append("standby" if is_on_standby() else "primary")
        statement = self.at_standby if is_on_standby() and self.at_standby else self.statement
        with cursor() as db:
            return db.execute(statement).fetchone()[0]


def test_a_standby_reads_and_says_how_far_it_is():
    act = Act()
    result, place = read(act)
    assert (result, act.places) == ("here", ["standby"])
    assert place <= primary_place()
    assert not is_on_standby()


def test_all_that_was_seen_lies_before_the_place():
    seen = []

    def act():
        # The primary goes on, and the standby with it.
        name = connection.settings_dict["NAME"]
        with psycopg.connect(url_of(name), autocommit=True) as db:
            db.execute("INSERT INTO trackers_tag (name) VALUES ('meanwhile')")
            [[lsn]] = db.execute(
                "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
            ).fetchall()
        seen.append(Act("SELECT name FROM trackers_tag")())
        return lsn

    lsn, place = read(act)
    assert seen == ["meanwhile"]
    assert place.lsn >= lsn


def test_a_reader_who_saw_more_is_answered_by_the_primary():
    act, ahead = Act(), primary_place()
    result, place = read(act, after=LogPlace(ahead.timeline, ahead.lsn + 10**9))
    assert (result, place, act.places) == ("here", None, ["primary"])


@pytest.mark.parametrize(
    "fault",
    [
        # The server ends the connection, and lacks a migration.
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT count(*) FROM trackers_of_tomorrow",
    ],
)
def test_a_fault_of_the_standby_is_read_again_on_the_primary(fault, caplog):
    act = Act(at_standby=fault)
    assert read(act) == ("here", None)
    assert act.places == ["standby", "primary"]
    assert "everything is read from the primary" in caplog.text
    # It is left alone for a while.
    assert read(act) == ("here", None)
    assert act.places == ["standby", "primary", "primary"]


def test_a_limit_of_time_stays_one():
    act = Act(
        at_standby="SELECT count(*) FROM (SELECT set_config('statement_timeout', '50', false)) one"
    )
    slow = Act("SELECT pg_sleep(20)")

    def limited():
        act()
        return slow()

    with pytest.raises(OperationalError) as error:
        read(limited)
    assert isinstance(error.value.__cause__, QueryCanceled)
    assert slow.places == ["standby"]


def test_a_page_that_would_write_is_a_fault_of_ours():
    act = Act(at_standby="INSERT INTO trackers_tag (name) VALUES ('a') RETURNING name")
    with pytest.raises(InternalError) as error:
        read(act)
    assert isinstance(error.value.__cause__, ReadOnlySqlTransaction)
    assert act.places == ["standby"]


def test_a_flow_may_ask_for_the_primary():
    places = []

    def act():
        places.append(is_on_standby())
        if is_on_standby():
            raise AskPrimary
        return "there"

    assert read(act) == ("there", None)
    assert places == [True, False]
    # That says nothing of the standby.
    assert read(is_on_standby)[0]


def test_a_streamed_answer_keeps_its_connection_to_the_last_byte():
    seen, closed = [], []

    def blocks():
        try:
            for _ in range(3):
                seen.append(is_on_standby())
                yield Act()().encode()
        finally:
            closed.append(is_on_standby())

    response, place = read(lambda: StreamingHttpResponse(blocks()))
    assert place
    for _ in response:
        assert not is_on_standby()
    response.close()
    assert (seen, closed) == ([True] * 3, [True])


def test_a_page_waits_for_no_place_in_the_pool():
    held = [reading._find_standby(None) for _ in range(STANDBY_POOL["max_size"])]
    try:
        assert read(Act()) == ("here", None)
    finally:
        for found in held:
            if found:
                found[0].close()
