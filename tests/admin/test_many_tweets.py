"""Actions on more tweets than a form can name: all of a list, with the number before."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from tests.admin.conftest import said
from tests.factories import TweetFactory
from tests.jobs.ordinary import run_all
from trackers.schedule.models import BulkAct, BulkPiece
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db
TWEETS = "/admin/trackers/tweet/"
MANY = 1500


def fill(first=1, **given):
    Tweet.objects.bulk_create(TweetFactory.build(id=first + n, **given) for n in range(MANY))


def choose(staff, action, address=TWEETS, **given):
    """All of the list, of which a page has a hundred."""
    chosen = {"action": action, "select_across": "1", "_selected_action": ["1"]}
    return staff.post(address, {**chosen, **given})


def fields_of(page):
    return page.content.decode().count('name="_selected_action"')


def test_all_of_a_long_list_are_untracked_by_the_workers_with_the_number_before(staff):
    fill()
    fill(10_001, paused=True)
    address = f"{TWEETS}?paused__exact=1"

    page = choose(staff, "untrack", address)
    assert "Stop tracking 1,500 tweets and remove" in page.content.decode()
    assert fields_of(page) == 1
    assert Tweet.objects.count() == 2 * MANY

    page = staff.post(
        address,
        {"action": "untrack", "select_across": "1", "_selected_action": ["1"], "sure": "yes"},
        follow=True,
    )
    act = BulkAct.objects.get()
    assert page.redirect_chain[-1][0] == f"/admin/trackers/bulkact/{act.pk}/change/"
    assert "0 of 1,500 (0%)" in page.content.decode()
    run_all()

    act.refresh_from_db()
    assert (act.by, act.tweets, act.seen, act.done) == ("ada", MANY, MANY, MANY)
    assert "1,500 of 1,500 (100%)" in staff.get(page.redirect_chain[-1][0]).content.decode()
    assert not Tweet.objects.filter(paused=True).exists()
    assert Tweet.objects.count() == MANY
    assert not BulkPiece.objects.exists()


@pytest.mark.parametrize(
    ("action", "before", "question"),
    [
        ("pause", {}, "Pause 1,500 tweets?"),
        ("resume", {"paused": True}, "Resume 1,500 tweets?"),
        ("refresh_now", {}, "Look up 1,500 tweets now?"),
    ],
)
def test_the_other_actions_ask_of_many_and_are_done_in_pieces(staff, action, before, question):
    fill(**before)

    assert question in choose(staff, action).content.decode()
    assert not BulkAct.objects.exists()
    choose(staff, action, sure="yes")
    run_all()

    assert Tweet.objects.filter(paused=action == "pause").count() == MANY
    assert TweetUpdate.objects.count() == (0 if action == "pause" else MANY)
    # A thousand and more never stand before the youngest.
    assert not TweetUpdate.objects.filter(urgent=True).exists()


def test_isolated_tweets_are_retried_however_many(staff):
    TweetUpdate.objects.bulk_create(
        TweetUpdate(key=key, due_at=timezone.now(), attempts=4) for key in range(1, 1103)
    )

    assert (
        "Look up 1,102 tweets again?"
        in choose(staff, "retry", "/admin/trackers/isolatedtweet/").content.decode()
    )
    choose(staff, "retry", "/admin/trackers/isolatedtweet/", sure="yes")
    run_all()

    assert not TweetUpdate.objects.filter(attempts__gt=0).exists()


def test_a_few_are_done_at_once(staff):
    TweetFactory(id=1)
    TweetFactory(id=2)

    page = staff.post(
        TWEETS, {"action": "pause", "select_across": "0", "_selected_action": ["1"]}, follow=True
    )

    assert said(page) == ["Paused 1."]
    assert not BulkAct.objects.exists()


def test_one_that_runs_is_stopped_where_it_stands(staff):
    fill()
    choose(staff, "pause", sure="yes")

    act = BulkAct.objects.get()
    given = {"action": "stop", "_selected_action": [str(act.pk)]}
    page = staff.post("/admin/trackers/bulkact/", given, follow=True)
    run_all()

    assert said(page) == ["Stopped 1."]
    assert not Tweet.objects.filter(paused=True).exists()
    act.refresh_from_db()
    assert (act.was_stopped, act.percent) == (True, 0)


def test_who_may_not_delete_tweets_untracks_none_and_sees_no_progress(client):
    fill()
    user = User.objects.create_user("bob", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_tweet"))
    client.force_login(user)

    choose(client, "untrack", sure="yes")

    assert not BulkAct.objects.exists()
    assert client.get("/admin/trackers/bulkact/").status_code == 403
