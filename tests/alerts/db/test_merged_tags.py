"""What is about a tag that is merged into another one is about that one from then on."""

import pytest
from django.contrib.auth.models import User

from tests.alerts.conftest import NOW, moves, rule, tweet
from trackers import tasks
from trackers.alerts.models import AlertDigest, AlertRule
from trackers.alerts.velocity import velocity_findings
from trackers.tweets.tags import acts
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets

pytestmark = pytest.mark.django_db


@pytest.fixture
def tags():
    return [get_or_create_tag(name) for name in ("old", "older", "new", "other")]


def about(tag):
    return rule("velocity", name=tag.name, about="tag", of=tag.pk, metric="likes", at=5)


def test_rules_and_digests_follow_a_merge_into_what_is_merged_itself(tags):
    old, older, new, other = tags
    for tag in tags:
        about(tag)
    # A tweet with the number of a tag is no tag.
    rule("velocity", name="tweet", about="tweet", of=old.pk, metric="likes", at=5)
    reports = {"vera": f"tag/{older.pk}", "otto": f"author/{old.pk}", "eve": f"tag/{other.pk}"}
    for name, report in reports.items():
        AlertDigest.objects.create(user=User.objects.create_user(name), report=report)

    acts.end_tags([older], into=old)
    acts.end_tags([old], into=new)

    assert dict(AlertRule.objects.values_list("name", "of")) == {
        "old": new.pk, "older": new.pk, "new": new.pk, "other": other.pk, "tweet": old.pk,
    }  # fmt: skip
    found = dict(AlertDigest.objects.values_list("user__username", "report"))
    assert found == {**reports, "vera": f"tag/{new.pk}"}


def test_a_rule_finds_the_tweets_of_both_tags_once_they_are_moved(tags):
    old, _, new, _ = tags
    for id, tag in ((1, old), (2, new)):
        moves(tweet(id), 10)
        tag_tweets(tag.pk, [id])
    about(old)
    acts.end_tags([old], into=new)
    tasks.sweep_tags()

    found = velocity_findings(list(AlertRule.objects.all()), now=NOW)

    assert {int(one.of) for one in found} == {1, 2}


def test_a_rule_about_a_removed_tag_stays(tags):
    made = about(tags[0])
    acts.end_tags([tags[0]])
    tasks.sweep_tags()
    made.refresh_from_db()
    assert made.of == tags[0].pk
