"""The compact form of X's OpenAPI documents, and what is found to differ from it."""

import json

import pytest

from tests.xapi.openapi import VERSIONS, Document, Exchange
from tests.xapi.openapi.__main__ import Compact

PROBLEMS = "https://api.twitter.com/2/problems/"
METRICS = {
    "retweet_count": 1,
    "reply_count": 2,
    "like_count": 3,
    "quote_count": 4,
    "bookmark_count": 5,
    "impression_count": 6,
}
POST = {"id": "1", "text": "a", "edit_history_tweet_ids": ["1"], "public_metrics": METRICS}
NOT_FOUND = {
    "type": PROBLEMS + "resource-not-found",
    "title": "Not Found Error",
    "parameter": "ids",
    "value": "2",
    "resource_id": "2",
    "resource_type": "tweet",
}


def differences(body=None, *, query="ids=1,2", path="/2/tweets", status=200, sent=b""):
    kind = "application/json; charset=utf-8" if status < 300 else "application/problem+json"
    exchange = Exchange("POST" if sent else "GET", path, query, sent, status, kind)
    exchange.answer = json.dumps(body or {"data": [POST], "errors": [NOT_FOUND]}).encode()
    return Document("2.166").differences(exchange)


def test_documented_requests_and_answers_do_not_differ():
    assert differences() == []
    assert differences(query="ids=1&tweet.fields=id,text&expansions=author_id") == []
    assert differences({"meta": {"result_count": 0}}, query="", path="/2/users/1/tweets") == []
    assert differences(NOT_FOUND, status=404) == []


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("", "asked: is without ids"),
        ("ids=1&ids=2", "asked ids: is not of type array"),
        ("ids=1,a", "asked ids *: pattern {'pattern': '^[0-9]{1,19}$'}"),
        ("ids=" + ",".join(["1"] * 101), "asked ids: maxItems {'limit': 100}"),
        ("ids=1&tweet.fields=likes", "asked tweet.fields *: likes is none of the values"),
        ("ids=1&post.fields=id", "asked: has post.fields, which is not named"),
    ],
)
def test_requests_differ_in_names_numbers_and_values(query, line):
    assert differences(query=query) == [f"GET /2/tweets {line}"]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"data": POST}, " data: is not of type array"),
        ({"data": [{**POST, "likes": 1}]}, " data *: has likes, which is not named"),
        ({"data": [{**POST, "id": 1}]}, " data * id: is not of type string"),
        ({"data": [{**POST, "created_at": "today"}]}, " data * created_at: format {"),
        ({"data": [{**POST, "public_metrics": {**METRICS, "like_count": "3"}}]}, " like_count: is"),
        ({"errors": [{**NOT_FOUND, "detail": 1}]}, " errors * detail: is not of type string"),
        ({"errors": [{**NOT_FOUND, "why": "1"}]}, " errors *: has why, which is not named"),
        ({"errors": [{**NOT_FOUND, "type": "x"}]}, " errors * type: x is none of the values"),
        ({"includes": {"users": [{"id": "1", "name": "a"}]}}, " users *: is without username"),
    ],
)
def test_answers_differ_in_names_types_and_values(body, line):
    lines = differences(body)

    assert any(line in each for each in lines), lines


def test_other_statuses_and_unknown_endpoints_differ():
    assert differences(status=201) == ["GET /2/tweets 201: another status"]
    assert differences(path="/2/nowhere") == ["GET /2/nowhere is not in the document"]
    unnamed = differences(path="/2/tweets/search/stream/rules", query="", sent=b'{"put": 1}')
    assert [line for line in unnamed if "in its body" in line] == [
        "POST /2/tweets/search/stream/rules asked in its body: is not oneOf of several"
    ]


def test_a_document_is_reduced_to_its_facts():
    schemas = {
        "Thing": {
            "discriminator": {"propertyName": "kind", "mapping": {"a": "#/components/schemas/A"}},
            "properties": {"kind": {"type": "string", "description": "Which."}},
        },
        "A": {"allOf": [{"$ref": "#/components/schemas/Thing"}, {"minProperties": 1}]},
    }
    parameter = {"name": "days", "in": "query", "schema": {"type": "integer", "format": "int32"}}
    thing = {"$ref": "#/components/schemas/Thing"}
    null = {"type": "string", "enum": ["x"], "nullable": True, "example": "x"}
    answer = {"type": "object", "properties": {"thing": thing, "null": null}}
    operation = {
        "security": [{"BearerToken": []}, {"OAuth2UserToken": ["tweet.read"]}],
        "parameters": [parameter],
        "responses": {"200": {"content": {"application/json": {"schema": answer}}}},
    }
    compact = Compact(
        {"paths": {"/2/users/{id}": {"get": operation}}, "components": {"schemas": schemas}}
    )

    endpoint = compact.endpoints()["GET /2/users/:id"]

    assert endpoint["security"] == {"BearerToken": [], "OAuth2UserToken": ["tweet.read"]}
    assert endpoint["parameters"]["properties"]["days"]["maximum"] == 2**31 - 1
    facts = endpoint["answers"]["200 application/json"]["properties"]
    assert facts["null"] == {"type": ["string", "null"], "enum": ["x", None]}
    assert compact.definitions["AnyThing"] == {"properties": {"kind": {"type": "string"}}}
    assert compact.definitions["A"]["allOf"][0] == {"$ref": "#/$defs/AnyThing"}
    assert compact.definitions["Thing"]["allOf"][2]["then"] == {"$ref": "#/$defs/A"}


@pytest.mark.parametrize("version", VERSIONS)
def test_each_file_names_its_source(version):
    assert Document(version).source.startswith(
        "github.com/xdevplatform/docs, openapi.json, commit "
    )
