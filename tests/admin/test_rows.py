from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.admin.conftest import act, said
from tests.factories import TweetFactory, TweetUpdateFactory
from trackers.jobs.models import Namespace, Worker
from trackers.tweets.models import Author, Tweet
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db
TWEETS = "/admin/trackers/tweet/"
TRACK = "/admin/trackers/tweet/track/"
NAMESPACES = "/admin/trackers/namespace/"
ISOLATED = "/admin/trackers/isolatedtweet/"


def test_pasted_lines_are_counted_and_the_rejected_ones_shown_with_their_numbers(staff):
    TweetFactory(id=20)

    page = staff.post(TRACK, {"lines": "20\nhttps://x.com/a/status/21\nno tweet\n\n22"})

    html = page.content.decode()
    assert "2 tracked, 1 already tracked, 1 rejected" in html
    assert "<td>3</td><td><code>no tweet</code></td>" in html
    assert set(Tweet.objects.values_list("pk", flat=True)) == {20, 21, 22}


def test_the_list_of_tweets_is_searched_by_id_and_by_link(staff):
    one, other = TweetFactory(), TweetFactory()

    for words in (str(one.id), f"https://x.com/a/status/{one.id}?s=20"):
        found = staff.get(TWEETS, {"q": words}).context["cl"].queryset
        assert [tweet.pk for tweet in found] == [one.id]
    assert not staff.get(TWEETS, {"q": "words"}).context["cl"].queryset
    assert len(staff.get(TWEETS).context["cl"].queryset) == len({one, other})


@pytest.mark.parametrize(
    ("action", "paused", "scheduled"),
    [("pause", True, False), ("refresh_now", False, True)],
)
def test_an_action_reaches_the_queue(staff, action, paused, scheduled):
    tweet = TweetFactory()

    act(staff, TWEETS, action, tweet.id)

    assert Tweet.objects.get().paused is paused
    assert TweetUpdate.objects.filter(key=tweet.id).exists() is scheduled


@pytest.mark.parametrize(("paused", "level"), [(True, "warning"), (False, "success")])
def test_an_action_that_does_nothing_is_no_success(staff, paused, level):
    tweet = TweetFactory(paused=paused)

    page = act(staff, TWEETS, "refresh_now", tweet.id)

    assert [message.level_tag for message in page.context["messages"]] == [level]


def test_a_paused_tweet_is_resumed(staff):
    tweet = TweetFactory(paused=True)

    act(staff, TWEETS, "resume", tweet.id)

    assert not Tweet.objects.get().paused
    assert TweetUpdate.objects.filter(key=tweet.id).exists()


def test_untracking_asks_first(staff):
    tweet = TweetFactory()

    page = act(staff, TWEETS, "untrack", tweet.id)
    assert "cannot be undone" in page.content.decode()
    assert Tweet.objects.exists()

    given = {"action": "untrack", "_selected_action": [str(tweet.id)], "sure": "yes"}
    staff.post(TWEETS, given)
    assert not Tweet.objects.exists()


def test_isolated_tweets_are_listed_alone_and_retried(staff):
    waiting, isolated = TweetUpdateFactory(), TweetUpdateFactory(attempts=4)

    found = staff.get(ISOLATED).context["cl"].queryset
    assert [row.key for row in found] == [isolated.key]

    page = act(staff, ISOLATED, "retry", isolated.key)
    assert said(page) == ["Looking up again: 1."]
    assert not TweetUpdate.objects.filter(attempts__gte=3).exists()
    assert TweetUpdate.objects.filter(key=waiting.key).exists()


def test_a_namespace_is_paused_resumed_and_its_hold_lifted(staff):
    held = {"held_until": datetime.now(UTC) + timedelta(hours=1), "held_because": "503"}
    Namespace.objects.filter(pk="tweet:update").update(**held)

    act(staff, NAMESPACES, "pause", "tweet:update")
    assert Namespace.objects.get(pk="tweet:update").paused
    act(staff, NAMESPACES, "resume", "tweet:update")
    assert not Namespace.objects.get(pk="tweet:update").paused
    act(staff, NAMESPACES, "lift_hold", "tweet:update")
    assert Namespace.objects.get(pk="tweet:update").held_until is None


@pytest.mark.parametrize(
    ("address", "action", "step"),
    [
        (NAMESPACES, "pause", "Choose Resume"),
        (NAMESPACES, "resume", "see “Held until”"),
        (NAMESPACES, "lift_hold", "see “Paused”"),
        (ISOLATED, "retry", "Reload this list"),
    ],
)
def test_nothing_done_is_a_warning_that_says_what_to_do(staff, address, action, step):
    Namespace.objects.filter(pk="tweet:update").update(paused=action == "pause")
    key = TweetUpdateFactory().key if address == ISOLATED else "tweet:update"

    [message] = act(staff, address, action, key).context["messages"]

    assert message.level_tag == "warning"
    assert step in str(message)


def knobs(**changed):
    return {
        "batch_size": "100", "buffer_ttl": "2s", "lease": "60s", "retry_first": "5s",
        "retry_most": "10m", "arrivals_per_second": "1000", **changed,
    }  # fmt: skip


def test_a_namespaces_knobs_are_edited_and_its_task_is_not(staff):
    change = f"{NAMESPACES}tweet_3Aupdate/change/"

    staff.post(change, knobs(buffer_ttl="1.5s", task="os.abort"))

    namespace = Namespace.objects.get(pk="tweet:update")
    assert namespace.buffer_ttl == timedelta(seconds=1.5)
    assert namespace.task == "trackers.tasks.update_tweets"


def test_a_lease_that_is_too_short_is_refused_with_a_sentence(staff):
    page = staff.post(f"{NAMESPACES}tweet_3Aupdate/change/", knobs(lease="10s"))

    assert "A lease must be longer than a task may run" in page.content.decode()
    assert Namespace.objects.get(pk="tweet:update").lease == timedelta(seconds=60)


def test_rows_of_machines_are_shown_and_cannot_be_changed(staff):
    now = datetime.now(UTC)
    tweet = TweetFactory()
    Author.objects.create(id=7, username="ada")
    given = {"cluster": uuid4(), "host": "h", "kind": "main", "started_at": now}
    Worker.objects.create(pid=1, seen_at=now, **given)
    Worker.objects.create(pid=2, seen_at=now - timedelta(minutes=5), **given)

    for name in ("tweet", "author", "worker", "isolatedtweet"):
        assert staff.get(f"/admin/trackers/{name}/").status_code == 200
        assert staff.get(f"/admin/trackers/{name}/add/").status_code == 403
    change = f"{TWEETS}{tweet.id}/change/"
    assert staff.get(change).status_code == 200
    assert staff.post(change, {"paused": "on"}).status_code == 403
    assert staff.get(f"{TWEETS}{tweet.id}/delete/").status_code == 403
    workers = staff.get("/admin/trackers/worker/").content.decode()
    assert workers.count("icon-yes") == 1
    assert workers.count("icon-no") == 1


def test_every_page_of_the_admin_opens_under_the_policy(staff):
    for name in ("interval", "credential", "namespace"):
        page = staff.get(f"/admin/trackers/{name}/")
        assert page.status_code == 200
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    assert staff.get("/admin/django_q/schedule/").status_code == 200
