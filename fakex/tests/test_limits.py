import time

import pytest


def test_a_window_counts_down_and_then_refuses(x):
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 3, "app": None}})
    ids = x.live_ids(1)

    replies = [x.tweets(ids, token="w1") for _ in range(4)]

    assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
    assert [reply.headers["x-rate-limit-remaining"] for reply in replies] == ["2", "1", "0", "0"]
    assert {reply.headers["x-rate-limit-limit"] for reply in replies} == {"3"}
    reset = {int(reply.headers["x-rate-limit-reset"]) for reply in replies}
    assert len(reset) == 1
    assert 890 < reset.pop() - time.time() <= 901
    assert x.fake("GET", "totals")["over_window"] == 1


def test_two_tokens_have_their_own_windows_within_their_apps(x):
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 2, "app": 3}})
    for name in ("one", "two"):
        x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": name, "app": "shared"})

    def ask(token: str) -> tuple[int, str]:
        reply = x.tweets(["1"], token=token)
        return reply.status_code, reply.headers["x-rate-limit-remaining"]

    assert [ask("one"), ask("one"), ask("one")] == [(200, "1"), (200, "0"), (429, "0")]
    assert [ask("two"), ask("two")] == [(200, "0"), (429, "0")]


def test_all_apps_of_a_project_share_its_window(x):
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 2, "app": 3, "project": 4}})
    for name, app in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")):
        registered = {"kind": "bearer", "bearer_token": name, "app": app, "project": "shared"}
        x.fake("POST", "credentials", registered)

    def ask(token: str) -> tuple[int, str, str | None]:
        reply = x.tweets(["1"], token=token)
        headers = reply.headers
        told = headers["x-rate-limit-limit"], headers["x-rate-limit-remaining"]
        return reply.status_code, "/".join(told), x.entry()["refused_for"]

    order = ("a1", "a1", "a1", "a2", "a2", "b1", "b2", "a1")
    assert [ask(token) for token in order] == [
        (200, "2/1", None),
        (200, "2/0", None),
        (429, "2/0", "token"),
        (200, "3/0", None),
        (429, "3/0", "app"),
        (200, "4/0", None),
        (429, "4/0", "project"),
        (429, "2/0", "token"),  # all three are full, and the innermost is told
    ]
    totals = x.fake("GET", "totals")
    assert totals["over_window"] == 4
    assert totals["over_window_by"] == {"app": 1, "project": 1, "token": 2}


def test_a_request_over_a_window_is_counted_although_a_fault_answers(x):
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 1, "app": None}})
    x.tweets(["1"], token="w2")
    x.fake("PUT", "faults", [{"kind": "500"}])

    assert x.tweets(["1"], token="w2").status_code == 500
    assert x.fake("GET", "totals")["over_window"] == 1


def test_a_bad_request_counts_in_the_window_and_an_unknown_caller_does_not(x):
    x.fake("PUT", "credentials", {"strict": True})
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "known"})

    bad, unknown = x.tweets(["?"], token="known"), x.tweets(["1"], token="unknown")
    good = x.tweets(["1"], token="known")

    assert (bad.status_code, unknown.status_code, good.status_code) == (400, 401, 200)
    assert "x-rate-limit-limit" not in unknown.headers
    left = [int(reply.headers["x-rate-limit-remaining"]) for reply in (bad, good)]
    assert left[0] - left[1] == 1


@pytest.mark.parametrize("speed", [60, 900])
def test_a_fast_clock_shortens_the_windows(start_x, speed):
    x = start_x("--clock-speed", str(speed), "--tweets", "10")

    reset = int(x.tweets(["1"]).headers["x-rate-limit-reset"])

    assert 0 <= reset - time.time() <= 900 / speed + 1


def test_windows_of_a_day_have_headers_of_their_own(x):
    x.fake("PUT", "limits", {"GET /2/tweets": {"user_a_day": 2, "app_a_day": 3}})
    registered = {"kind": "oauth2", "client_id": "client", "refresh_token": "r", "app": "shared"}
    x.fake("POST", "credentials", {**registered, "access_token": "user"})
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "app", "app": "shared"})

    def ask(token: str) -> tuple[int, str | None, str | None]:
        reply = x.tweets(["1"], token=token)
        left = [reply.headers.get(f"x-{who}-limit-24hour-remaining") for who in ("user", "app")]
        assert int(reply.headers["x-rate-limit-remaining"]) > 3000
        return reply.status_code, *left

    assert [ask("user") for _ in range(3)] == [(200, "1", "2"), (200, "0", "1"), (429, "0", "1")]
    assert [ask("app") for _ in range(2)] == [(200, None, "0"), (429, None, "0")]
    reset = int(x.tweets(["1"], token="app").headers["x-app-limit-24hour-reset"])
    assert 86_300 < reset - time.time() <= 86_401
