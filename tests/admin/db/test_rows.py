from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User

from tests.admin.conftest import act
from tests.factories import TweetFactory
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import Worker
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Author, Tweet

TWEETS = "/admin/trackers/tweet/"
QUEUES = "/admin/trackers/queue/"


def test_a_queue_is_paused_and_resumed_and_its_hold_lifted(staff):
    held = {"held_until": datetime.now(UTC) + timedelta(hours=1), "held_reason": "503"}
    Queue.objects.filter(pk="tweet:update").update(**held)

    act(staff, QUEUES, "pause", "tweet:update")
    assert Queue.objects.get(pk="tweet:update").paused
    act(staff, QUEUES, "resume", "tweet:update")
    assert not Queue.objects.get(pk="tweet:update").paused
    act(staff, QUEUES, "lift_hold", "tweet:update")
    assert Queue.objects.get(pk="tweet:update").held_until is None


@pytest.mark.parametrize(
    ("action", "step"),
    [
        ("pause", "Choose Resume"),
        ("resume", "see “Held until”"),
        ("lift_hold", "see “Paused”"),
    ],
)
def test_an_action_without_effect_warns_and_says_what_to_do(staff, action, step):
    Queue.objects.filter(pk="tweet:update").update(paused=action == "pause")

    [message] = act(staff, QUEUES, action, "tweet:update").context["messages"]

    assert message.level_tag == "warning"
    assert step in str(message)


def knobs(**changed):
    return {
        "batch_size": "100", "buffer_ttl": "2s", "lease": "60s", "retry_first": "5s",
        "retry_most": "10m", "arrivals_per_second": "1000", **changed,
    }  # fmt: skip


def test_settings_of_a_queue_are_editable_but_its_task_is_not(staff):
    change = f"{QUEUES}tweet_3Aupdate/change/"

    staff.post(change, knobs(buffer_ttl="1.5s", task="os.abort"))

    queue = Queue.objects.get(pk="tweet:update")
    assert queue.buffer_ttl == timedelta(seconds=1.5)
    assert queue.task == "trackers.tasks.update_tweets"


def test_a_lease_that_is_too_short_is_refused_with_a_sentence(staff):
    page = staff.post(f"{QUEUES}tweet_3Aupdate/change/", knobs(lease="10s"))

    assert "A lease must be longer than a task may run" in page.content.decode()
    assert Queue.objects.get(pk="tweet:update").lease == timedelta(seconds=60)


def test_rows_written_by_workers_are_read_only(staff):
    now = datetime.now(UTC)
    Author.objects.create(id=7, username="ada")
    given = {"cluster": uuid4(), "host": "h", "kind": "main", "started_at": now}
    Worker.objects.create(pid=1, seen_at=now, **given)
    Worker.objects.create(pid=2, seen_at=now - timedelta(minutes=5), **given)

    for name in ("author", "worker"):
        assert staff.get(f"/admin/trackers/{name}/").status_code == 200
        assert staff.get(f"/admin/trackers/{name}/add/").status_code == 403
    workers = staff.get("/admin/trackers/worker/").content.decode()
    assert workers.count("icon-yes") == 1
    assert workers.count("icon-no") == 1


def test_the_admin_links_to_the_pages_of_tweets(staff):
    tweet = TweetFactory()

    for address, page in (
        (TWEETS, "/tweets/"),
        (f"{TWEETS}add/", "/tweets/"),
        (f"{TWEETS}{tweet.id}/change/", f"/tweets/{tweet.id}/"),
        (f"{TWEETS}{tweet.id}/delete/", f"/tweets/{tweet.id}/"),
    ):
        assert staff.post(address, {"post": "yes"})["Location"] == page
    assert staff.get(f"{TWEETS}x/change/").status_code == 404
    assert staff.get(f"{TWEETS}{tweet.id}/history/").status_code == 200
    assert Tweet.objects.exists()


def test_change_permission_shows_the_progress_of_bulk_changes(staff, client):
    begun = BulkAct.objects.create(
        act="pause", by="ada", tweets=4000, seen=1000,
        begun_at=datetime.now(UTC), touched_at=datetime.now(UTC),
    )  # fmt: skip

    page = staff.get("/admin/trackers/bulkact/").content.decode()

    assert f'<a href="/tweets/many/{begun.pk}/">pause 4,000 tweets</a>' in page
    assert "1,000 of 4,000 (25%)" in page
    for permission, status in (("view_tweet", 403), ("change_tweet", 200)):
        user = User.objects.create_user(permission, is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename=permission))
        client.force_login(user)
        assert client.get("/admin/trackers/bulkact/").status_code == status


def test_every_admin_page_complies_with_the_content_security_policy(staff):
    for name in ("interval", "credential", "queue"):
        page = staff.get(f"/admin/trackers/{name}/")
        assert page.status_code == 200
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    assert staff.get("/admin/django_q/schedule/").status_code == 200
