"""Users' tokens: both made new at each refresh, the old ones dead, and answers lost on the way."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

TOKEN = "POST /2/oauth2/token"
DEAD = {
    "error": "invalid_request",
    "error_description": "Value passed for the token was invalid.",
}


def register(x, **more) -> dict:
    given = {"kind": "oauth2", "client_id": "client", "name": "user", "app": "app"}
    tokens = {"access_token": "access-1", "refresh_token": "refresh-1"}
    return x.fake("POST", "credentials", {**given, **tokens, **more})


def refresh(x, token: str = "refresh-1", *, auth=None, **form: str) -> requests.Response:
    data = {"grant_type": "refresh_token", "refresh_token": token, **form}
    if auth is None:
        data.setdefault("client_id", "client")
    return x.session.post(f"{x.url}/2/oauth2/token", data=data, auth=auth, timeout=10)


def rotations(x) -> int:
    [shown] = x.fake("GET", "credentials")["registered"]
    return shown["rotations"]


def test_a_refresh_replaces_both_tokens(x):
    register(x, project="ours")

    made = refresh(x).json()
    statuses = [x.tweets(["1"], token=t).status_code for t in ("access-1", made["access_token"])]
    again = refresh(x)

    assert set(made) == {"token_type", "expires_in", "access_token", "scope", "refresh_token"}
    assert (made["token_type"], made["expires_in"]) == ("bearer", 7200)
    assert "offline.access" in made["scope"]
    assert statuses == [401, 200]
    assert (again.status_code, again.json()) == (400, DEAD)
    assert refresh(x, made["refresh_token"]).status_code == 200


def test_the_caller_stays_the_same_through_a_refresh(x):
    register(x, project="ours")
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 10, "app": None}})

    first = x.tweets(["1"], token="access-1")
    second = x.tweets(["1"], token=refresh(x).json()["access_token"])

    left = [reply.headers["x-rate-limit-remaining"] for reply in (first, second)]
    assert left == ["9", "8"]
    assert (x.entry()["token"], x.entry()["project"]) == ("user", "ours")


@pytest.mark.parametrize(
    ("auth", "client_id", "status"),
    [
        pytest.param(("client", "secret"), None, 200, id="basic"),
        pytest.param(("client", "wrong"), None, 401, id="wrong secret"),
        pytest.param(None, "client", 401, id="as if public"),
    ],
)
def test_a_client_with_a_secret_must_send_it(x, auth, client_id, status):
    register(x, client_secret="secret")
    form = {"client_id": client_id} if client_id else {}

    assert refresh(x, auth=auth, **form).status_code == status
    assert refresh(x, auth=("client", "secret")).status_code == (400 if status == 200 else 200)


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({"client_id": "another"}, 401, "unauthorized_client"),
        ({"grant_type": ""}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
    ],
)
def test_a_malformed_refresh_rotates_nothing(x, form, status, error):
    register(x)

    reply = refresh(x, **form)

    assert (reply.status_code, reply.json()["error"]) == (status, error)
    assert rotations(x) == 0


def test_an_access_token_expires_and_a_new_one_is_valid(x):
    register(x, expires_in=0)
    ended = x.tweets(["1"], token="access-1")

    register(x, expires_in=3600)

    assert ended.status_code == 401
    assert "x-rate-limit-limit" not in ended.headers
    assert x.tweets(["1"], token="access-1").status_code == 200
    assert refresh(x).json()["expires_in"] == 3600


def test_a_lost_answer_has_rotated_the_tokens_and_a_reset_has_not(x):
    register(x)
    x.fake("PUT", "faults", [{"kind": "reset", "match": {"endpoint": TOKEN}}])
    with pytest.raises(requests.ConnectionError):
        refresh(x)
    after_reset = rotations(x)

    x.fake("PUT", "faults", [{"kind": "lose_answer", "match": {"endpoint": TOKEN}}])
    with pytest.raises(requests.ConnectionError):
        refresh(x)
    x.fake("DELETE", "faults")

    assert (after_reset, rotations(x)) == (0, 1)
    assert refresh(x).json() == DEAD
    assert x.tweets(["1"], token="access-1").status_code == 401


def test_tokens_are_rotated_before_the_delay_and_lost_to_a_client_that_disconnects(x):
    register(x)
    x.fake("PUT", "latency", {"ms": 0, "token_ms": 60_000})

    with pytest.raises(requests.ReadTimeout):
        requests.post(
            f"{x.url}/2/oauth2/token",
            data={
                "grant_type": "refresh_token",
                "refresh_token": "refresh-1",
                "client_id": "client",
            },
            timeout=0.2,
        )

    x.fake("PUT", "latency", {"ms": 0, "token_ms": 0})
    assert rotations(x) == 1
    assert refresh(x).status_code == 400


def test_of_two_concurrent_refreshes_one_gets_tokens(x):
    register(x)
    x.fake("PUT", "faults", [{"kind": "slow", "times": 1, "params": {"ms": 100}}])

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(lambda _: refresh(x).status_code, range(2)))

    assert statuses == [200, 400]
    assert rotations(x) == 1


@pytest.mark.parametrize(("kind", "status"), [("503_json", 503), ("500", 500), ("429", 429)])
def test_a_failed_refresh_rotates_nothing(x, kind, status):
    register(x)
    x.fake("PUT", "faults", [{"kind": kind, "match": {"endpoint": TOKEN, "token": "user"}}])

    assert refresh(x).status_code == status
    assert rotations(x) == 0


def test_no_token_is_shown_or_logged(x):
    register(x, client_secret="a-client-secret")
    made = refresh(x, auth=("client", "a-client-secret")).json()
    x.tweets(["1"], token=made["access_token"])

    answer = str([x.fake("GET", subject) for subject in ("credentials", "log", "totals")])

    secrets = ("access-1", "refresh-1", "a-client-secret")
    for secret in (*secrets, made["access_token"], made["refresh_token"]):
        assert secret not in answer
    assert x.fake("GET", "totals")["requests"][TOKEN] == {"200": 1}
