"""`/2/connections`: what X counts as open connections of an app, and ending them."""

import requests

from fakex.tests.conftest import wait_until
from fakex.tests.rules import add_rule

PATH = "/2/connections"


def end(x, body, token="any"):
    headers = {"Authorization": f"Bearer {token}"}
    return requests.delete(x.url + PATH, json=body, headers=headers, timeout=10)


def test_an_app_sees_and_ends_its_own_connections(x, listen):
    add_rule(x, "#moon")
    first = listen()

    [counted] = x.get(PATH).json()["data"]
    assert set(counted) == {"id", "endpoint_name", "connected_at", "client_ip"}
    assert counted["endpoint_name"] == "filtered_stream"
    assert x.get(PATH, token="another").json() == {"meta": {"result_count": 0}}
    theirs = end(x, {"uuids": [counted["id"]]}, token="another").json()["data"]
    assert (theirs["successful_kills"], theirs["failed_kills"]) == (0, 1)

    ended = end(x, {"uuids": [counted["id"]]}).json()["data"]

    assert ended["results"] == [{"uuid": counted["id"], "success": True}]
    wait_until(lambda: first.ended == "closed")
    assert b"ForceDisconnect" in first.lines[-1]
    assert listen().reply.status_code == 200


def test_a_dead_connection_counts_until_it_is_ended(x, listen):
    x.fake("PUT", "stream", {"linger_s": 600})
    add_rule(x, "#moon")
    listen()
    x.fake("POST", "stream/cut", {})
    assert listen().reply.status_code == 429

    [counted] = x.get(PATH).json()["data"]
    assert end(x, {"uuids": [counted["id"]]}).json()["data"]["successful_kills"] == 1

    assert listen().reply.status_code == 200


def test_bodies_without_ids_are_refused(x):
    assert end(x, {"uuids": []}).status_code == 400
    assert end(x, {"ids": ["a"]}).status_code == 400
