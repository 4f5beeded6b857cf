import pytest
import requests

from fakex.tests.conftest import wait_until


@pytest.fixture
def kept():
    """One connection, which is used again as long as it stands."""
    with requests.Session() as session:
        session.trust_env = False
        yield session


def ask(x, session):
    return session.get(
        f"{x.url}/2/tweets?ids=1", headers={"Authorization": "Bearer a"}, timeout=0.5
    )


def counted(x, *names):
    told = x.fake("GET", "connections")
    return tuple(told[name] for name in names)


@pytest.mark.parametrize("how", ["fin", "rst"])
def test_an_idle_connection_is_closed_and_the_next_request_makes_another(x, kept, how):
    x.fake("PUT", "connections", {"idle_s": 0.05, "how": how})
    ask(x, kept)
    wait_until(lambda: counted(x, "closed") == (1,))

    ask(x, kept)

    assert counted(x, "opened", "lost") == (2, 0)


@pytest.mark.parametrize(
    ("how", "seen"), [("forget", requests.ConnectionError), ("swallow", requests.ReadTimeout)]
)
def test_a_forgotten_connection_loses_the_next_request_unseen(x, kept, how, seen):
    x.fake("PUT", "connections", {"idle_s": 0, "how": how})
    ask(x, kept)

    with pytest.raises(seen):
        ask(x, kept)

    assert counted(x, "opened", "lost") == (1, 1)
    assert len(x.fake("GET", "log")["entries"]) == 1


def test_a_connection_that_is_used_in_time_is_kept(x, kept):
    x.fake("PUT", "connections", {"idle_s": 60, "how": "forget"})

    for _ in range(3):
        ask(x, kept)

    assert counted(x, "opened", "closed", "lost") == (1, 0, 0)


def test_another_mode_is_refused(x):
    reply = x.session.put(f"{x.url}/_fake/connections", json={"idle_s": 1, "how": "kindly"})

    assert (reply.status_code, reply.json()) == (
        400,
        {"error": "how is one of fin, rst, forget, swallow"},
    )
