"""The rules of the filtered stream: how they are changed and told, and when they act."""

import json

import pytest

from fakex.tests.conftest import wait_until
from fakex.tests.posts import all_visible, release
from fakex.tests.rules import PROBLEMS, RULES, add_rule, change_rules


def test_rules_are_listed_in_the_form_of_x(x):
    before = x.get(RULES).json()
    body = {"add": [{"value": "#moon", "tag": "t"}, {"value": "cat OR dog"}]}

    added = change_rules(x, body)

    assert set(before) == {"meta"}
    assert before["meta"]["result_count"] == 0
    assert added.status_code == 201
    tagged, untagged = added.json()["data"]
    assert (tagged["value"], tagged["tag"]) == ("#moon", "t")
    assert set(untagged) == {"id", "value"}
    summary = {"created": 2, "not_created": 0, "valid": 2, "invalid": 0}
    assert added.json()["meta"]["summary"] == summary
    assert "sent" in added.json()["meta"]
    assert x.get(RULES).json()["data"] == [tagged, untagged]
    assert x.get(RULES, ids=untagged["id"]).json()["data"] == [untagged]
    assert "data" not in x.get(RULES, token="another app").json()


def test_duplicate_and_unreadable_rules_are_errors(x):
    [known] = add_rule(x, "#moon")

    body = change_rules(x, {"add": [{"value": "#moon"}, {"value": "(cat"}, {"value": "dog"}]})
    only_bad = change_rules(x, {"add": [{"value": "#moon"}]})

    duplicate, invalid = body.json()["errors"]
    assert body.status_code == 201
    assert [rule["value"] for rule in body.json()["data"]] == ["dog"]
    assert body.json()["meta"]["summary"] == {
        "created": 1,
        "not_created": 2,
        "valid": 1,
        "invalid": 2,
    }
    assert duplicate == {
        "value": "#moon",
        "id": known,
        "title": "DuplicateRule",
        "type": PROBLEMS + "duplicate-rules",
    }
    assert (invalid["title"], invalid["type"]) == (
        "UnprocessableEntity",
        PROBLEMS + "invalid-rules",
    )
    assert only_bad.status_code == 200
    assert "data" not in only_bad.json()


def added_and_complaints(reply):
    body = reply.json()
    return (
        [rule["value"] for rule in body.get("data", ())],
        [error.get("value") for error in body.get("errors", ())],
    )


def test_a_bad_rule_can_refuse_its_whole_request(x):
    x.fake("PUT", "stream", {"rule_refusals": "all"})

    refused = change_rules(x, {"add": [{"value": "cat"}, {"value": "(cat"}, {"value": "dog"}]})
    good = change_rules(x, {"add": [{"value": "cat"}, {"value": "dog"}]})

    assert refused.status_code == 200
    assert added_and_complaints(refused) == ([], ["(cat"])
    summary = {"created": 0, "not_created": 3, "valid": 2, "invalid": 1}
    assert refused.json()["meta"]["summary"] == summary
    assert added_and_complaints(good) == (["cat", "dog"], [])


def test_rules_can_be_refused_whole_without_naming_the_bad_one(x):
    x.fake("PUT", "stream", {"rule_refusals": "whole"})

    refused = change_rules(x, {"add": [{"value": "cat"}, {"value": "(cat"}]})

    assert refused.status_code == 400
    assert added_and_complaints(refused) == ([], [None])
    assert refused.json()["errors"][0]["message"] == "1 of the rules are not valid"
    assert "data" not in x.get(RULES).json()
    assert change_rules(x, {"add": [{"value": "cat"}]}).status_code == 201


def test_the_rules_of_an_app_are_limited(x):
    x.fake("PUT", "stream", {"most_rules": 1})

    body = change_rules(x, {"add": [{"value": "cat"}, {"value": "dog"}]})

    assert added_and_complaints(body) == (["cat"], ["dog"])
    assert body.json()["errors"][0]["type"] == PROBLEMS + "rule-cap"


def test_rules_can_be_lost_as_if_deleted_elsewhere(x, listen):
    add_rule(x, "#moon", "#sun")
    listener = listen()

    x.fake("POST", "stream/lose_rules", {"values": ["#moon"]})
    release(x, count=5)
    release(x, count=5, tags=["sun"])
    all_visible(x)

    assert [rule["value"] for rule in x.get(RULES).json()["data"]] == ["#sun"]
    wait_until(lambda: len(listener.lines) == 5)
    x.fake("POST", "stream/lose_rules", {})
    assert "data" not in x.get(RULES).json()


def test_rules_are_deleted_by_id_or_value(x):
    one, _two, three = add_rule(x, "one", "two", "three")

    by_id = change_rules(x, {"delete": {"ids": [one, "12345"]}})
    by_value = change_rules(x, {"delete": {"values": ["two"]}})

    assert by_id.status_code == 200
    assert by_id.json()["meta"]["summary"] == {"deleted": 1, "not_deleted": 1}
    assert by_id.json()["errors"][0]["errors"][0]["message"] == "Rule does not exist"
    assert by_value.json()["meta"]["summary"] == {"deleted": 1, "not_deleted": 0}
    assert [rule["id"] for rule in x.get(RULES).json()["data"]] == [three]


@pytest.mark.parametrize("body", [{}, {"add": []}, {"add": ["x"]}, {"delete": {}}, [1]])
def test_a_malformed_change_is_a_bad_request(x, body):
    assert change_rules(x, body).status_code == 400


def test_a_rule_takes_effect_and_ends_with_a_delay(x, listen):
    """By X's clock, however slow the machine is."""

    def now_ms():
        return x.fake("GET", "posts")["now_ms"]

    def matches():
        """Whether the rule matched each of the posts that were sent so far."""
        return [slow in line["rules"] for line in x.fake("GET", "stream")["sent"]]

    add_rule(x, "#moon")
    x.fake("PUT", "stream", {"rule_delay_s": 0.5})
    listener = listen()
    release(x, count=100_000)
    before_adding = now_ms()
    [slow] = add_rule(x, "has:hashtags moon")
    wait_until(lambda: any(matches()))
    before_deleting = now_ms()
    change_rules(x, {"delete": {"ids": [slow]}})
    after_deleting = now_ms()
    wait_until(lambda: not matches()[-1])
    x.fake("DELETE", "posts/0")
    truth = all_visible(x)
    wait_until(lambda: len(listener.lines) == len(truth))

    events = [json.loads(line) for line in listener.lines]
    acted = {
        event["data"]["id"]
        for event in events
        if slow in {rule["id"] for rule in event["matching_rules"]}
    }
    visible = {post["id"]: post["visible_at_ms"] for post in x.visible()}
    first, last = min(visible[id] for id in acted), max(visible[id] for id in acted)
    assert before_adding + 500 <= first
    assert before_deleting < last < after_deleting + 500
    assert acted == {id for id, at_ms in visible.items() if first <= at_ms <= last}
    assert set(listener.ids) == truth


def test_a_rule_without_a_tag_has_none_in_the_events(x, listen):
    change_rules(x, {"add": [{"value": "#moon"}]})
    listener = listen()
    release(x, count=3)

    wait_until(lambda: len(listener.lines) == 3)

    [rule] = json.loads(listener.lines[0])["matching_rules"]
    assert set(rule) == {"id"}


def test_without_rules_there_is_no_stream(x, listen):
    reply = listen().reply

    assert reply.status_code == 409
    assert reply.json()["connection_issue"] == "RuleConfigurationIssue"


@pytest.mark.parametrize("dry", ["true", "True"])
def test_a_dry_run_says_what_would_happen_and_does_nothing(x, dry):
    [known] = add_rule(x, "#moon")

    added = change_rules(x, {"add": [{"value": "cat"}]}, dry_run=dry)
    deleted = change_rules(x, {"delete": {"ids": [known]}}, dry_run=dry)
    emptied = change_rules(x, dry_run=dry, delete_all="true")

    assert added.json()["meta"]["summary"]["created"] == 1
    assert deleted.json()["meta"]["summary"] == {"deleted": 1, "not_deleted": 0}
    assert emptied.json()["meta"]["summary"] == {"deleted": 1, "not_deleted": 0}
    assert [rule["id"] for rule in x.get(RULES).json()["data"]] == [known]


def test_all_rules_are_deleted_at_once(x):
    add_rule(x, "#moon", "cat")

    body = change_rules(x, delete_all="true").json()

    assert body["meta"]["summary"] == {"deleted": 2, "not_deleted": 0}
    assert "data" not in x.get(RULES).json()
