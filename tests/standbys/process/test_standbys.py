"""Pages and the API on standbys that follow a primary: real servers, a cluster, and gunicorn."""

from __future__ import annotations

from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from django.urls import resolve

from tests.benchmarks.screens.addresses import World, lists, one_tweet, origins
from tests.flows.conftest import wait_until
from tests.standbys.process.ground import (
    TWEETS,
    Ground,
    Reader,
    is_as_far,
    readers_of,
    text,
    transactions_of,
    url_of,
)

LONG = {"READ_LAG_MOST": "3600"}
FROM_PRIMARY, AGAIN = "everything is read from the primary", "the standby is read again"


@pytest.fixture(scope="module")
def _shared(running_fakex, tmp_path_factory):
    with ExitStack() as stack:
        yield Ground(stack, running_fakex, tmp_path_factory.mktemp("standbys"))


@pytest.fixture
def ground(_shared):
    """Of all tests but that of the promotion; as it was."""
    yield _shared
    _shared.go_on(*_shared.standbys)


@pytest.fixture
def own_ground(running_fakex, tmp_path):
    with ExitStack() as stack:
        yield Ground(stack, running_fakex, tmp_path)


def test_a_reader_who_has_seen_no_more_reads_a_standby(ground):
    id, standby = ground.ids[0], ground.standbys[0]
    ground.write(1)
    with ground.web(DATABASE_READ_URL=url_of(standby), **LONG) as port:
        person, program = Reader(port).sign_in(), Reader(port)
        assert person.text_on_page(id) == program.text_in_api(id) == text(1)
        ground.pause(standby)
        ground.write(2)
        assert program.text_in_api(id) == text(1)
        assert person.text_on_page(id) == text(1)

        # Whoever changes something sees it, and all that there is by then.
        assert person.post(f"/tweets/{id}/tag", f"/tweets/{id}/", tag="seen").status_code == 200
        assert "seen" in person.get(f"/tweets/{id}/").text
        assert person.text_on_page(id) == text(2)
        # Others do not wait for that.
        assert program.text_in_api(id) == text(1)

        ground.go_on(standby)
        wait_until(lambda: program.text_in_api(id) == text(2), what="the standby has it, too")


def test_exports_read_a_server_of_their_own(ground):
    standby = ground.standbys[0]
    ground.write(1)
    with ground.web(DATABASE_EXPORT_URL=url_of(standby)) as port:
        ground.pause(standby)
        ground.write(2)
        assert Reader(port).in_api("/exports/tweets").text.count(text(1)) == TWEETS
    assert ground.product.manage("export", "tweets").stdout.count(text(2)) == TWEETS
    ground.product.environment["DATABASE_EXPORT_URL"] = url_of(standby)
    assert ground.product.manage("export", "tweets").stdout.count(text(1)) == TWEETS
    del ground.product.environment["DATABASE_EXPORT_URL"]


def test_two_standbys_of_different_lag_never_take_a_reader_back(ground):
    id = ground.ids[0]
    ground.write(1)
    with ground.web(**LONG) as port:
        person, program = Reader(port).sign_in(), Reader(port)
        ground.read_both(port)
        ground.pause(ground.standbys[1])
        ground.write(2)

        seen = [program.text_in_api(id) for _ in range(60)]
        assert seen == sorted(seen)
        assert seen[-1] == text(2)
        assert {program.text_in_api(id) for _ in range(60)} == {text(2)}
        pages = [person.text_on_page(id) for _ in range(40)]
        assert pages == sorted(pages)


def test_far_behind_it_is_not_read_until_it_is_near_again(ground):
    id = ground.ids[0]
    ground.write(1)
    with ground.web(READ_LAG_MOST="2") as port:
        reader = Reader(port)
        assert reader.text_in_api(id) == text(1)
        ground.pause(*ground.standbys)
        ground.write(2)

        wait_until(lambda: reader.text_in_api(id) == text(2), what="the primary answers")
        wait_until(lambda: "behind" in reader.standby(), what="/readyz says so")
        status = ground.product.manage_json("status")["standby"]
        assert status["lag_seconds"] > 0
        assert {reader.text_in_api(id) for _ in range(20)} == {text(2)}
        assert ground.logged(FROM_PRIMARY) == 1

        ground.go_on(*ground.standbys)
        wait_until(lambda: reader.standby() == "read", what="it is near again")
        wait_until(lambda: reader.text_in_api(id) and ground.logged(AGAIN), what="it is read again")
        assert (ground.logged(FROM_PRIMARY), ground.logged(AGAIN)) == (1, 1)


def test_one_of_several_that_is_far_behind_is_left_out_alone(ground):
    id = ground.ids[0]
    late, near = ground.standbys
    ground.write(1)
    with ground.web(READ_LAG_MOST="3") as port:
        reader = Reader(port)
        ground.read_both(port)
        ground.pause(late)
        ground.write(2)
        wait_until(
            lambda: (
                reader.text_in_api(id)
                and ground.logged(f"the standby at 127.0.0.1:{late.port} is not read: It is")
            ),
            what="it is found to be late",
        )
        wait_until(
            lambda: (
                {reader.text_in_api(id) for _ in range(20)} == {text(2)}
                and ground.logged(FROM_PRIMARY) == ground.logged(AGAIN)
                and readers_of(late) == 0 < readers_of(near)
            ),
            what="all connections lead to the other one",
        )
        assert ground.logged(f"the standby at 127.0.0.1:{late.port} is not read: It is") == 1


def test_while_standbys_die_and_come_back_no_page_fails(ground):
    id = ground.ids[0]
    ground.write(1)
    with ground.web(**LONG) as port:
        reader, person = Reader(port), Reader(port).sign_in()
        assert reader.text_in_api(id) == text(1)
        for standby in ground.standbys:
            standby.kill()
            for _ in range(20):
                assert reader.text_in_api(id) == text(1)
                assert person.text_on_page(id) == text(1)
        assert reader.standby() == "It cannot be reached."
        # On a slow machine the second one is read again before it dies.
        assert ground.logged(FROM_PRIMARY) == ground.logged(AGAIN) + 1

        for standby in ground.standbys:
            standby.start()
        wait_until(lambda: reader.standby() == "read", what="it is back")
        wait_until(
            lambda: reader.text_in_api(id) and ground.logged(AGAIN) == ground.logged(FROM_PRIMARY),
            what="it is read again",
        )


def test_all_that_only_reads_is_read_on_a_standby(ground):
    """A standby refuses more than a connection that only reads: unlogged tables, and functions."""
    added = ground.product.manage("source", "add", "@nasa", "--json")
    assert added.returncode == 0, added.stderr
    ground.product.sql(
        "INSERT INTO trackers_author (id, username, name, protected)"
        " VALUES (1, 'ada', 'Ada', false)"
    )
    ground.product.sql("UPDATE trackers_tweet SET author_id = 1")
    ground.write(1)
    ids = ground.ids
    with ground.web(**LONG) as port:
        person, program = Reader(port).sign_in(), Reader(port)
        for standby in ground.standbys:
            wait_until(lambda: is_as_far(ground.primary, standby), what="the standby has it all")  # noqa: B023
        pages = pages_of(ids)
        assert len(pages) > 80
        before = sum(map(transactions_of, ground.standbys))
        answers = {path: person.get(path).status_code for path in pages}
        answers |= {path: program.in_api(path).status_code for path in calls_of(ids)}
        assert {path: status for path, status in answers.items() if status != 200} == {}
        assert ground.logged(FROM_PRIMARY) == 0
        wait_until(
            lambda: sum(map(transactions_of, ground.standbys)) >= before + 2 * len(answers),
            what="the standbys have answered them: how far they are, and what was asked",
        )


def pages_of(ids):
    """What the benches look at, as far as it is marked so."""
    share = SimpleNamespace(pk=1, address="/s/none/")
    world = World(
        me=SimpleNamespace(share=share),
        newest=f"/tweets/{ids[0]}/",
        deep=ids[0],
        long=[str(id) for id in ids],
        subscriber=None,
        new="number",
    )
    paths = [path for rows in (lists, one_tweet, origins) for _, _, path in rows(world)]
    return [path for path in paths if is_marked(path)]


def is_marked(path):
    return getattr(resolve(path.partition("?")[0]).func, "reads_standby", False)


def calls_of(ids):
    compared = ",".join(map(str, ids))
    return [
        *("/tweets", "/tweets?sort=score", "/tweets?q=number", "/tweets/export", "/tweets/left"),
        *(f"/tweets/{ids[0]}", f"/tweets/{ids[0]}/history", f"/tweets/compare?ids={compared}"),
        *("/authors/1/benchmarks", "/sources", "/sources/1", "/sets/all/all/period?period=7d"),
        *("/leaderboards/tweets", "/leaderboards/author?since=2026-01-01&until=2026-01-02"),
    ]


def test_after_a_promotion_the_other_primarys_standby_is_not_read(own_ground):
    ground = own_ground
    id = ground.ids[0]
    first, second = ground.standbys
    ground.write(1)
    url = url_of(ground.primary, first, how="?target_session_attrs=read-write")
    with ground.web(url, READ_LAG_MOST="5") as port:
        reader = Reader(port)
        assert reader.text_in_api(id) == text(1)
        wait_until(lambda: is_as_far(ground.primary, first), what="the standby has it all")
        ground.primary.kill()
        first.promote()
        ground.product.url = ground.product.environment["DATABASE_URL"] = url
        ground.product.database = ground.product.connect()
        ground.write(2)
        ground.product.start_cluster(workers=1)

        def answers():
            answer = reader.in_api(f"/tweets/{id}")
            return answer.status_code == 200 and answer.json()["text"] == text(2)

        wait_until(answers, what="the new primary is found, and read")
        # The second still follows the one that is gone: nobody reads there again.
        assert {reader.text_in_api(id) for _ in range(40)} == {text(2)}
        assert second.pid()
