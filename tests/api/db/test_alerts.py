"""What a rule would have raised, for programs."""

from datetime import timedelta

from django.utils import timezone

from tests.alerts.conftest import moves, tweet
from trackers.alerts.models import AlertRule
from trackers.tweets.gains.heads import store_heads

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
