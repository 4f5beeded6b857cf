"""X refuses rules, alone or with others: those that are good come, and the bad ones say why."""

import pytest

from tests.ingest.stream.listened import CHANGE
from trackers.ingest.sources.models import Gap, Source
from trackers.ingest.stream.change_rules import MOST_REQUESTS, add_in_pieces
from trackers.ingest.stream.listeners import wanted_now
from trackers.ingest.stream.synced import Synced

pytestmark = pytest.mark.django_db

REFUSALS = ("each", "all", "whole")
GOOD, BAD = ["#moon", "#sun", "cat dog", "#rain"], ["(broken", "cat ("]


def deaf():
    """Sources that have no rule, and what each says of it."""
    return dict(Source.objects.filter(rule_id=None).values_list("of", "problem"))


@pytest.mark.parametrize("how", REFUSALS)
def test_valid_rules_are_added_despite_invalid_ones_beside_them(stream, how):
    stream.x.put("stream", {"rule_refusals": how})
    for rule in (GOOD[0], BAD[0], *GOOD[1:], BAD[1]):
        stream.source(rule)

    stream.synchronise()

    assert set(stream.rules()) == set(GOOD)
    assert deaf().keys() == set(BAD)
    assert all(said.startswith("X refuses the rule: ") for said in deaf().values())
    assert "of the rules are not valid" in deaf()["(broken"] or how != "whole"


def test_a_bad_rule_among_a_hundred_is_found_in_few_requests_and_not_retried(stream):
    stream.x.put("stream", {"rule_refusals": "whole"})
    for number in range(99):
        stream.source(f"#word{number}")
    stream.source("(broken")

    stream.synchronise()
    asked = len(stream.asked(CHANGE))
    stream.synchronise()

    assert asked <= 16
    assert len(stream.asked(CHANGE)) == asked
    assert len(stream.rules()) == 99
    assert deaf().keys() == {"(broken"}


def test_rules_beyond_the_requests_of_one_run_say_so_and_come_next(stream):
    stream.x.put("stream", {"rule_refusals": "whole"})
    for number in range(MOST_REQUESTS):
        stream.source(f"(broken{number}")
    stream.source("#moon")

    stream.synchronise()
    waiting = [said for said in deaf().values() if said.startswith("X does not have the rule yet")]
    asked = len(stream.asked(CHANGE))
    for _ in range(2):
        stream.synchronise()

    assert waiting
    assert asked == MOST_REQUESTS
    assert all(said.startswith("X refuses the rule") for said in deaf().values())
    assert set(stream.rules()) == {"#moon"}


@pytest.mark.parametrize("how", REFUSALS[:2])
def test_rules_beyond_the_limit_of_x_say_so(stream, how):
    stream.x.put("stream", {"rule_refusals": how, "most_rules": 2})
    for rule in GOOD[:3]:
        stream.source(rule)

    stream.synchronise()

    assert set(stream.rules()) == set(GOOD[:2])
    assert "maximum number of rules" in deaf()[GOOD[2]]


@pytest.mark.parametrize("how", REFUSALS[:2])
def test_a_rule_reported_as_duplicate_is_used_for_the_source(stream, how):
    stream.x.put("stream", {"rule_refusals": how})
    moon, sun = stream.source("#moon"), stream.source("#sun")
    [rule] = stream.ask("POST", add=[{"value": "#moon"}])["data"]
    synced = Synced(mark=stream.synced.mark)

    # As when it was made between the reading and this.
    add_in_pieces(list(wanted_now().values()), stream.asker, synced)

    assert synced.rules[moon.pk] == int(rule["id"])
    assert sun.pk in synced.rules
    assert synced.refused == {}


def test_rule_texts_differing_in_blanks_share_one_rule(stream):
    first, two = stream.source("cat dog"), stream.source("cat  dog")
    stream.ask("POST", add=[{"value": "cat dog"}])

    synced = stream.synchronise()

    assert synced.rules[first.pk] == synced.rules[two.pk]
    assert sorted(synced.listeners(wanted_now()).by_rule[synced.rules[first.pk]]) == [
        first.pk,
        two.pk,
    ]


@pytest.mark.parametrize("trouble", ["503", "window"])
def test_while_x_refuses_rule_changes_existing_rules_listen_and_the_new_one_waits(stream, trouble):
    moon = stream.source("#moon")
    stream.synchronise()
    sun = stream.source("#sun")
    if trouble == "window":
        stream.x.put("limits", {CHANGE: {"token": None, "app": 1, "window": 900}})
        stream.ask("POST", add=[{"value": "(broken"}])
    else:
        fault = {"kind": "503_json", "match": {"endpoint": CHANGE}, "times": 1}
        stream.x.put("faults", [fault])

    first = stream.synchronise()
    sentence = deaf()["#sun"]
    again = stream.synchronise() if trouble == "503" else None

    assert first.rules.keys() == {moon.pk}
    assert first.trouble is not None
    assert sentence.startswith("X does not have the rule yet: ")
    if again:
        assert again.rules.keys() == {moon.pk, sun.pk}
        assert deaf() == {}
        # What appeared while it waited is missing.
        assert Gap.objects.filter(source=sun, why="rule").exists()
