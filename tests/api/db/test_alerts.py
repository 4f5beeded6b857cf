"""What a rule would have raised, for programs."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.alerts.conftest import moves, rule, tweet
from tests.api.conftest import Program
from trackers import roles
from trackers.alerts.models import AlertRule
from trackers.ingest.sources.models import Source
from trackers.tweets.gains.heads import store_heads
from trackers.tweets.snowflake import first_id_at

TRIAL = "alerts/rules/trial"
FAST = {"kind": "velocity", "metric": "likes", "at": 1000, "rest": "1h"}


def test_a_rule_is_tried_and_not_saved(owner):
    moves(tweet(1), 1500)
    now = timezone.now()
    for hours in (23.9, 2):
        store_heads(now=now - timedelta(hours=hours))

    answer = owner.post(TRIAL, {**FAST, "about": "author", "of": "@a7"})

    assert answer["sentence"].startswith("Would have fired 2 times in the last day")
    assert (answer["fired"], answer["messages"], answer["is_least"]) == (2, 2, False)
    assert (answer["rest"], answer["fires"][0]["url"]) == ("1h", "/tweets/1/")
    assert not AlertRule.objects.exists()


def test_a_trial_refuses_by_field_like_the_form(owner):
    owner.post(TRIAL, {**FAST, "rest": "1s", "about": "author", "of": "@nobody"})

    assert owner.status == 422
    assert {one["field"] for one in owner.body["errors"]} == {"of", "rest"}


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"kind": "words"}, "words"),
        ({"kind": "words", "words": "-launch !"}, "words"),
        ({"kind": "words", "words": "launch", "about": "tweet", "of": "1"}, "about"),
        ({"kind": "quiet"}, "about"),
        ({"kind": "quiet", "about": "author", "of": "@a7", "lasting": "59m"}, "lasting"),
        ({"kind": "quiet", "about": "author", "of": "@a7", "lasting": "31d"}, "lasting"),
        ({"kind": "quiet", "about": "source", "of": "1"}, "of"),
    ],
)
def test_rules_about_words_and_silence_refuse_by_field(owner, asked, field):
    tweet(1)
    Source.objects.create(pk=1, kind="import", of="archive.zip")

    owner.post(TRIAL, asked)

    assert owner.status == 422
    assert {one["field"] for one in owner.body["errors"]} == {field}


def test_a_rule_about_silence_is_tried(owner):
    now = timezone.now()
    for hours in (40, 10, 3):
        tweet(first_id_at(int((now - timedelta(hours=hours)).timestamp() * 1000)))

    answer = owner.post(TRIAL, {"kind": "quiet", "about": "author", "of": "@a7"})

    assert (answer["fired"], answer["messages"], answer["rest"]) == (1, 2, "1h")
    assert answer["fires"][0]["what"] == "Nothing new has come from @a7 for 1 d."
    assert answer["fires"][0]["url"] == "/authors/7/"


def test_addresses_are_whole_for_those_who_may_change_rules(owner, client):
    rule("velocity", metric="likes", at=5, to=["ada@here.example"])
    assert [one["to"] for one in owner.get("alerts/rules")["rules"]] == [["ada@here.example"]]

    vera = User.objects.create_user("vera")
    roles.give(vera, "viewer")
    viewer = Program(client, vera, "read")
    assert [one["to"] for one in viewer.get("alerts/rules")["rules"]] == [["a…@here.example"]]
