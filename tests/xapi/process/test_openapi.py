"""Our requests and the fake's answers, held against X's OpenAPI documents in both vocabularies."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from fakex import endpoints as fake_endpoints
from tests.xapi.openapi import VERSIONS
from tests.xapi.openapi.documented_fake import (
    APP,
    LIST,
    NO_POST,
    QUERY,
    USER,
    DocumentedFake,
    endpoints_in,
)
from tests.xapi.openapi.known import KNOWN, known_as
from trackers.xapi import endpoints as our_endpoints
from trackers.xapi import vocabulary
from trackers.xapi.client import look_up, look_up_accounts, read_credits, read_project_usage
from trackers.xapi.counts import count_archived, count_posts
from trackers.xapi.page import Ask
from trackers.xapi.stream import connect
from trackers.xapi.stream_connections import counted_connections, end_connection
from trackers.xapi.stream_rules import add_rules, delete_rules, rules_of
from trackers.xapi.timelines import look_up_username, read_page
from trackers.xapi.vocabulary import TWEETS

# Kinds of faults of the fake that are problems of X's, with their statuses.
FAULTS = {
    "401": 401,
    "402_credits": 402,
    "402_depleted": 402,
    "403": 403,
    "403_forbidden": 403,
    "403_unsupported": 403,
    "404": 404,
    "429": 429,
    "429_cap": 429,
    "429_connections": 429,
    "500": 500,
    "503_json": 503,
}
FAREWELLS = ("UpstreamOperationalDisconnect", "ForceDisconnect")
STREAM = "GET /2/tweets/search/stream"
RULES = "POST /2/tweets/search/stream/rules"


@pytest.fixture(params=VERSIONS)
def x(request, fakex, monkeypatch):
    x = DocumentedFake(fakex, request.param)
    # The product asks in the vocabulary that this version has.
    refused = {(x.relay.url, TWEETS): time.monotonic()} if request.param == "2.167" else {}
    monkeypatch.setattr(vocabulary, "_refused_at", refused)
    yield x
    x.close()


def answered(x, exchanges):
    return {x.document.endpoint_of(one)[0] for one in exchanges if one.status < 300}


def ask_as_the_product(x, bearer):
    """Every kind of request that it makes."""
    id, account, now = int(x.ids[5]), int(x.author["id"]), datetime.now(UTC)
    look_up(bearer, [id], **x.asking)
    look_up(bearer, [int(id) for id in x.ids], describes=False, usual=True, **x.asking)
    look_up_accounts(bearer, [int(person["id"]) for person in x.people], **x.asking)
    look_up_username(bearer, x.author["username"], **x.asking)
    for ask in (
        Ask("account", account, since_id=5, until_id=1 << 62, exclude=("replies", "retweets")),
        Ask("account", account, start_time=now - timedelta(days=1), max_results=5),
        Ask("mentions", account, since_id=5, until_id=1 << 62, max_results=5),
        Ask("search", QUERY, start_time=now - timedelta(days=6), max_results=10),
        Ask("search", QUERY),
        Ask("archive", QUERY, since_id=5, until_id=1 << 62),
        Ask("list", int(LIST), max_results=1),
    ):
        page = read_page(bearer, ask, **x.asking)
        assert page.broken == {}
        if page.next_token:
            again = Ask(ask.kind, ask.of, token=page.next_token, max_results=ask.max_results)
            read_page(bearer, again, **x.asking)
    assert len(count_posts(bearer, QUERY, **x.asking).spans) in (168, 169)
    month = count_archived(bearer, QUERY, now - timedelta(days=90), now - timedelta(1), **x.asking)
    assert len(month.spans) in (30, 31)
    read_project_usage(bearer, **x.asking)
    read_credits(bearer, **x.asking)
    added = add_rules(bearer, {QUERY: "moon", "from:nobody1": "none"}, **x.asking).added
    rules_of(bearer, **x.asking)
    stream = connect(bearer, **x.asking, silence=timedelta(seconds=20))
    [connection] = counted_connections(bearer, **x.asking).connections
    assert end_connection(bearer, connection.id, **x.asking).count == 1
    stream.close()
    delete_rules(bearer, list(added.values()), **x.asking)


def ask_for_everything(x):
    """All fields, all bounds, all tokens, and whatever has an answer of its own kind.

    Yields where other tokens are taken than the document says.
    """
    rules = [{"value": QUERY, "tag": "moon"}, {"value": "from:nobody1"}]
    x.ask(STREAM)  # there are no rules yet
    x.ask(RULES, body={"add": rules}, dry_run="true")
    x.ask(RULES, body={"add": rules})
    for body in ({"add": rules}, {"add": [{"value": "("}]}, {"delete": {"ids": ["9"]}}):
        x.ask(RULES, body=body)
    for endpoint in x.reading():
        needed = x.needed(endpoint)
        for more in ({}, x.all_fields(endpoint), *x.at_bounds(endpoint)):
            reply = x.ask(endpoint, **needed, **more)
            assert reply.status_code == 200, (endpoint, more, reply.text)
    x.listen(**x.all_fields(STREAM))
    for farewell in FAREWELLS:
        assert farewell.encode() in x.listen(farewell=farewell)
    x.ask("GET /2/tweets", ids=NO_POST)
    x.ask("GET /2/users", ids="1,2")
    x.ask("GET /2/users/by", usernames="nobody1")
    x.ask("GET /2/users/by/username/:username", username="nobody1")
    for person in x.hidden:
        x.ask("GET /2/users/:id/tweets", id=person["id"])
        x.ask("GET /2/users/by/username/:username", username=person["username"])
    x.ask("GET /2/lists/:id/tweets", id="1")
    x.ask("DELETE /2/connections", body={"uuids": ["a"]})
    for fault, status in FAULTS.items():
        x.fakex.put("faults", [{"kind": fault, "times": 1}])
        assert x.ask("GET /2/tweets", ids="1").status_code == status
    for endpoint in x.reading():
        needed = x.needed(endpoint)
        assert x.ask(endpoint, **needed, token="").status_code == 401
        for token, kind in ((APP, "BearerToken"), (USER, "OAuth2UserToken")):
            is_taken = x.ask(endpoint, **needed, token=token).status_code == 200
            if is_taken != x.takes(endpoint, kind):
                yield f"{endpoint}: {'takes' if is_taken else 'refuses'} {kind}"


def ask_wrongly(x):
    """What the document does not allow; what X, and so the fake, takes all the same."""
    taken = []
    for endpoint in (*x.reading(), STREAM, RULES):
        for wrong in x.out_of_bounds(endpoint):
            asked = {**x.needed(endpoint), **wrong}
            body = {"add": [{"value": QUERY}]} if endpoint == RULES else None
            with x.ask(endpoint, body=body, stream=True, **asked) as reply:
                if reply.status_code != 400:
                    taken += [(endpoint, wrong)]
    return taken


def test_requests_and_answers_are_as_documented(x, bearer):
    x.release()
    exchanges = x.relay.exchanges

    ask_as_the_product(x, bearer)
    assert answered(x, exchanges) == endpoints_in(our_endpoints)
    others = {*ask_for_everything(x)}
    assert answered(x, exchanges) >= x.endpoints
    differences = others.union(*map(x.document.differences, exchanges))
    right = len(exchanges)
    assert ask_wrongly(x) == []

    for one in exchanges[right:]:
        lines = x.document.differences(one)
        wrong = {line for line in lines if " asked" in line}
        assert wrong, f"the document allows {one.path}?{one.query}"
        differences.update(set(lines) - wrong)
    known = [pattern for pattern in KNOWN if pattern.startswith((x.document.version, "*"))]
    seen = {line: known_as(line, x.document.version) for line in differences}
    assert {line for line in seen if not seen[line]} == set()
    assert {*known} - {pattern for patterns in seen.values() for pattern in patterns} == set()


def test_scopes_are_those_of_the_document(x):
    ours = our_endpoints._SCOPES
    for endpoint in x.document.endpoints.keys() & ours.keys():
        assert ours[endpoint] == {*x.document.scopes(endpoint)} - {"offline.access"}, endpoint
    for endpoint in x.endpoints:
        scopes = x.document.scopes(endpoint)
        assert fake_endpoints.SCOPES.get(endpoint, set()) == {*(scopes or ())}, endpoint
