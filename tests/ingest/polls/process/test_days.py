"""What a source brought on each day, and what that cost, as the books and X have it."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from tests.factories import CredentialFactory
from tests.ingest.polls.steps import accounts, add, asked, billed, poll, release
from trackers.credentials.models import Credential
from trackers.ingest.sources import days
from trackers.ingest.sources.days import cost_of, days_of
from trackers.ingest.sources.models import SourceDay
from trackers.money.models import Project, Spending
from trackers.xapi.keys import Secrets

pytestmark = pytest.mark.django_db(transaction=True)


def test_polls_count_new_posts_and_their_cost(x):
    id, username = accounts(x, 1)[0]
    source = add("account", username)
    Project.objects.update(price_of_a_post=Decimal("0.004"))
    release(x, authors=[id], count=130)
    poll(source)
    release(x, authors=[id], count=20)
    poll(source)

    rows = SourceDay.objects.filter(source=source)

    assert sum(one.posts for one in rows) == source.yielded > 100
    assert sum(one.again for one in rows) == source.again
    paid = sum(one.billed for one in rows)
    assert paid == sum(one.posts for one in Spending.objects.all()) == billed(x)
    assert sum(one.money for one in rows) == paid * Decimal("0.004")


def test_costs_are_shown_by_day_and_by_new_post():
    source = add("account", "nasa")
    today = timezone.now().date()
    fields = {"again": 1, "late": 0}
    for back, posts, money in ((9, 30, "0.2"), (0, 10, "0.1")):
        SourceDay.objects.create(
            source=source, day=today - timedelta(days=back), posts=posts, billed=posts,
            money=Decimal(money), **fields,
        )  # fmt: skip

    cost = cost_of(days_of(source.pk, since=today - timedelta(days=20)), today=today)

    assert (cost.days, cost.posts, cost.billed) == (10, 40, 40)
    assert cost.a_day == Decimal("0.03")
    assert cost.a_post == Decimal("0.0075")
    assert cost_of([], today=today) is None


def test_days_are_pruned_after_three_months_and_deleted_with_their_source():
    source = add("account", "nasa")
    today = timezone.now().date()
    for back in (100, 93, 92, 0):
        SourceDay.objects.create(source=source, day=today - timedelta(days=back))

    assert days.prune_days(today=today) == 2
    assert SourceDay.objects.count() == 2
    source.delete()
    assert not SourceDay.objects.exists()


def owner(x, id):
    """Tokens of the account that owns the app, at X and with us, in the project of the others."""
    secrets = {"client_id": "client", "access_token": "own", "refresh_token": "refresh"}
    project = {"app": "one", "project": "ours"}
    x.tell("POST", "credentials", {"kind": "bearer", "bearer_token": "token-of-one", **project})
    x.tell("POST", "credentials", {"kind": "oauth2", **secrets, **project, "user_id": str(id)})
    app = Credential.objects.get().app
    return CredentialFactory(
        name="owner", kind="oauth2", app=app, secrets=Secrets(secrets), app_owner=id
    )


def test_owned_reads_are_priced_as_x_bills_them(x):
    (id, username), (other_id, other_name) = accounts(x, 2)
    owner(x, id)
    own, other = add("account", username), add("account", other_name)
    release(x, authors=[id], count=30)
    release(x, authors=[other_id], count=20)

    for source in (own, other):
        poll(source)

    own_posts, other_posts = (
        sum(one.billed for one in SourceDay.objects.filter(source=source))
        for source in (own, other)
    )
    assert own_posts >= 30
    assert other_posts >= 20
    spending = Spending.objects.get()
    assert (spending.posts, spending.owned_posts) == (own_posts + other_posts, own_posts)
    # Whose the two names are is read first.
    expected = own_posts * Decimal("0.001") + other_posts * Decimal("0.005") + 2 * Decimal("0.01")
    assert spending.money == expected == Decimal(x.get("projects/ours")["spent_micro"]) / 10**6
    money = {one.source_id: one.money for one in SourceDay.objects.all()}
    assert money[own.pk] == own_posts * Decimal("0.001")
    tokens = {entry["token"] for entry in asked(x, "GET /2/users/:id/tweets")}
    assert len(tokens) == 2


def test_another_credential_asks_at_the_usual_price_where_the_owner_may_not(x):
    id, username = accounts(x, 1)[0]
    owner(x, id).disable("tired", now=timezone.now())
    source = add("account", username)
    release(x, authors=[id], count=30)

    poll(source)

    spending = Spending.objects.get()
    assert spending.owned_posts == 0
    assert spending.money == spending.posts * Decimal("0.005") + Decimal("0.01")
