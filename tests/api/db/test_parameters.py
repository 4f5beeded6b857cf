"""Parameters of an address that a call does not know, or gets twice: refused by each call."""

from tests.api.db.test_attacks import KNOWN, operations, parts
from trackers.tweets.models import Tweet


def test_every_call_refuses_unknown_parameters(owner, settings):
    settings.API_RATE_LIMIT = settings.EVENT_STREAMS = 0
    heeded = {}
    for path, method, operation in operations():
        if "requestBody" in operation:
            # What is wrong in a body is told first.
            continue
        known = KNOWN | {"kind": "author"}
        path = path.format(**{one["name"]: known[one["name"]] for one in parts(operation, "path")})
        given = {"ids": "1,2"} if path.endswith("compare") else {}
        query = "&".join(f"{name}={value}" for name, value in {**given, "idz": "5"}.items())
        told = owner.ask(method, f"{path}?{query}")
        if (owner.status, told) != (400, {"error": "idz: there is no such parameter."}):
            heeded[method, path] = owner.status
    assert heeded == {}


def test_an_unknown_parameter_is_refused_before_anything_is_done(owner):
    owner.post("tweets", {"tweets": ["7"]})
    for query in ("id=8", "cursor=x"):
        owner.ask("DELETE", f"tweets/7?{query}")
        assert owner.status == 400
    owner.post("tweets?dry_run=true", {"tweets": ["8"]})
    assert owner.status == 400
    assert [one.pk for one in Tweet.objects.all()] == [7]


def test_a_parameter_given_twice_is_refused(owner):
    told = owner.get("tweets?lang=en&lang=ja")
    assert (owner.status, told) == (400, {"error": "lang: give it only once."})


def test_a_missing_token_is_reported_before_bad_parameters(owner):
    owner.token = "none"
    owner.get("tweets?idz=5")
    assert owner.status == 401
