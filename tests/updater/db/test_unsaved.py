"""What X billed for tweets that could not be saved is counted once, whoever counts it."""

from datetime import UTC, timedelta

import pytest
from django.utils import timezone

from tests.factories import CredentialFactory, TweetFactory, post
from trackers.credentials import selection
from trackers.jobs.batch import Batch
from trackers.money.ledger import Payment, Settlement
from trackers.money.models import Spending
from trackers.tweets.models import Tweet
from trackers.updater.lookups import Answered
from trackers.updater.reserve import BatchGrant
from trackers.updater.unsaved import keep_unsaved, record_unsaved
from trackers.xapi.results import Lookup

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("paid_elsewhere", "counted"), [((), 1), ((1,), 0), ((1, 2), 0)], ids=["none", "one", "both"]
)
def test_two_versions_that_another_process_paid_for_take_nothing_off_the_books(
    paid_elsewhere, counted
):
    """X shows both, and bills the one tweet that they are; others are paid for in between."""
    project = CredentialFactory().app.project_id
    selected = selection.select_credential()
    day = timezone.now().astimezone(UTC).date()
    for id in (1, 2):
        TweetFactory(id=id)
    payment = Payment(project, day, posts=2, reply_by=float("inf"))
    # What the other process counted, and what is reserved here.
    Spending.objects.create(project_id=project, day=day, posts=5, posts_reserved=2)
    now = timezone.now()
    batch = Batch(1, (1, 2), now, now + timedelta(minutes=1))
    grant = BatchGrant(batch, selected, payment, frozenset({1, 2}))
    reply = Lookup({1: post(1), 2: post(2)}, {}, {}, None)
    keep_unsaved([Answered(grant, reply, now)], [Settlement(payment, posts=1, x_now=now)])
    Tweet.objects.filter(id__in=paid_elsewhere).update(paid_on=day, paid_by=project)

    record_unsaved()

    [spending] = Spending.objects.all()
    assert (spending.posts, spending.posts_reserved) == (5 + counted, 0)
    assert set(Tweet.objects.values_list("paid_on", "paid_by")) == {(day, project)}
    record_unsaved()
    assert Spending.objects.get().posts == 5 + counted
