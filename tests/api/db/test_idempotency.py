"""A POST with an Idempotency-Key: done once, and answered the same."""

from datetime import timedelta

from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import F
from django.utils import timezone

from tests.api.conftest import Program
from trackers.events.models import Subscriber
from trackers.timelines import store
from trackers.tokens.idempotency import RETENTIONS
from trackers.tokens.models import IdempotencyKey
from tweetwatch.pieces import Deadline

KEY = {"Idempotency-Key": "a-key of mine"}
NEW = {"name": "shop", "callback": "https://shop.example/", "topics": ["tweets"]}


def test_a_repeated_request_is_done_once_and_answered_the_same(owner):
    first = owner.post("subscribers", NEW, **KEY)
    assert (owner.status, "Idempotent-Replayed" in owner.headers) == (201, False)

    assert owner.post("subscribers", NEW, **KEY) == first
    assert (owner.status, owner.headers["Idempotent-Replayed"]) == (201, "true")
    assert Subscriber.objects.count() == 1
    with connection.cursor() as db:
        db.execute("SELECT encode(answer, 'escape') FROM trackers_idempotencykey")
        assert first["signing_secret"] not in str(db.fetchall())


def test_an_empty_answer_is_repeated(keeper):
    store.set("a", [])
    for seen in (False, True):
        body = {"entries": [{"id": "1"}], "timelines": ["a"]}
        assert keeper.post("timelines/append", body, **KEY) is None
        assert (keeper.status, "Idempotent-Replayed" in keeper.headers) == (204, seen)


def test_a_key_belongs_to_one_request_of_one_token(owner):
    owner.post("subscribers", NEW, **KEY)

    told = owner.post("subscribers", {**NEW, "name": "other"}, **KEY)
    assert (owner.status, told["error"][:15]) == (422, "Another request")
    other = Program(owner.client, User.objects.create_superuser("other"))
    other.post("subscribers", {**NEW, "name": "other"}, **KEY)
    assert other.status == 201
    owner.post("subscribers", NEW, **{"Idempotency-Key": "ü"})
    assert owner.status == 400


def test_a_request_that_failed_with_a_500_can_be_retried(owner):
    with connection.cursor() as db:
        db.execute("ALTER TABLE trackers_subscription RENAME TO away")
    owner.post("subscribers", NEW, **KEY)
    assert (owner.status, IdempotencyKey.objects.count()) == (500, 0)
    with connection.cursor() as db:
        db.execute("ALTER TABLE away RENAME TO trackers_subscription")

    owner.post("subscribers", NEW, **KEY)
    assert (owner.status, Subscriber.objects.count()) == (201, 1)


def test_keys_are_pruned_after_a_day_or_when_there_are_too_many(owner):
    for number in range(4):
        owner.post(
            "timelines/delete",
            {"ids": [], "timelines": []},
            **{"Idempotency-Key": "k" * (number + 1)},
        )
    now = timezone.now()
    assert RETENTIONS[1].prune(now=now, deadline=Deadline.after(60)).rows == 0
    old = IdempotencyKey.objects.order_by("at").values_list("key", flat=True)[:1]
    IdempotencyKey.objects.filter(key__in=list(old)).update(at=F("at") - timedelta(days=2))

    assert RETENTIONS[1].prune(now=now, deadline=Deadline.after(60)).rows == 1
    assert RETENTIONS[1].prune(now=now, deadline=Deadline.after(60), most=1).rows == 2
    assert IdempotencyKey.objects.count() == 1


def test_a_key_can_be_reused_after_a_day(owner):
    owner.post("subscribers", NEW, **KEY)
    IdempotencyKey.objects.update(at=F("at") - timedelta(hours=25))

    owner.post("subscribers", {**NEW, "name": "other"}, **KEY)
    assert (owner.status, Subscriber.objects.count()) == (201, 2)


def test_a_refused_request_can_be_retried_with_the_same_key(program):
    program.post("subscribers", NEW, **KEY)
    assert (program.status, IdempotencyKey.objects.count()) == (403, 0)
    program.user.user_permissions.add(Permission.objects.get(codename="add_subscriber"))

    program.post("subscribers", NEW, **KEY)
    assert (program.status, Subscriber.objects.count()) == (201, 1)


def test_a_repeated_answer_counts_against_the_rate_limit(owner, settings):
    settings.API_RATE_LIMIT = 3
    left = []
    for _ in range(5):
        owner.post("subscribers", NEW, **KEY)
        left.append((owner.status, owner.headers["RateLimit"].split(";")[1]))
    assert left == [(201, "r=2"), (201, "r=1"), (201, "r=0"), (429, "r=0"), (429, "r=0")]
    assert owner.headers["Retry-After"]
