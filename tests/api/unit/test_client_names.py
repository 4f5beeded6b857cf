"""docs/tweetwatch_client.py, which people copy: each name in it is one of the API's."""

from __future__ import annotations

import importlib.util
import json
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from tests.conftest import PROJECT
from trackers.api.urls import api

SCHEMA = json.loads(json.dumps(api.get_openapi_schema()))
LIST, HISTORY = "/api/v1/tweets", "/api/v1/tweets/{id}/history"
LEADERBOARD = "/api/v1/leaderboards/tweets"


@pytest.fixture(scope="module")
def client_file():
    path = PROJECT / "docs" / "tweetwatch_client.py"
    spec = importlib.util.spec_from_file_location("tweetwatch_client", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parameters(path):
    """The query of a list: its names, each with the values it allows, if these are named."""
    listed = SCHEMA["paths"][path]["get"]["parameters"]
    return {
        parameter["name"]: {
            value
            for schema in (parameter["schema"], *parameter["schema"].get("anyOf", ()))
            for value in (*schema.get("enum", ()), *filter(None, [schema.get("const")]))
        }
        for parameter in listed
    }


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("Author", "AuthorOut"), ("Tweet", "TweetOut"), ("Sample", "SampleOut"),
        ("Leader", "LeaderOut"), ("AtAge", "AtAgeOut"), ("Compared", "ComparedOut"),
        ("Tracked", "TrackedOut"), ("Interval", "IntervalOut"),
    ],
)  # fmt: skip
def test_a_row_of_the_client_has_the_fields_of_the_api(client_file, name, schema):
    row = getattr(client_file, name)
    assert row.__required_keys__ | row.__optional_keys__ == set(
        SCHEMA["components"]["schemas"][schema]["properties"]
    )


def test_the_filters_of_the_client_are_those_of_the_list(client_file):
    filters = get_type_hints(client_file.Filters, vars(client_file))
    asked = parameters(LIST)
    assert set(filters) == set(asked) - {"limit", "cursor", "If-None-Match"}
    for name, kind in filters.items():
        if get_origin(kind) is Literal:
            assert set(get_args(kind)) == asked[name], name


def test_the_values_that_the_client_names_are_those_of_the_api(client_file):
    assert set(get_args(client_file.Metric)) == parameters(LEADERBOARD)["metric"]
    assert set(get_args(client_file.Bucket)) == parameters(HISTORY)["bucket"]
    leaderboard = get_type_hints(client_file.Tweetwatch.leaderboard)
    for name in ("window", "by"):
        assert set(get_args(leaderboard[name])) == parameters(LEADERBOARD)[name]


def test_calls_of_the_client_on_tweets_are_addresses_of_the_api(client_file):
    acts = get_args(get_type_hints(client_file.Tweetwatch.act)["what"])
    assert len(acts) == 4
    for act in acts:
        assert "post" in SCHEMA["paths"][f"/api/v1/tweets/{act}"]
