"""Removing a source: the numbers first, then the source alone or with what it alone brought."""

import pytest
from django.contrib.auth.models import User

from tests.factories import TweetFactory
from tests.jobs.ordinary import run_all
from tests.pages.sources import now, paged, some_staff, source, words
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    """Three tweets came from it, of which two from nowhere else."""
    ours, other = source(due_in=60, yielded=3), source("search", "mars", due_in=60)
    for id, came_from, sources in (
        (1, str(ours), [ours]),
        (2, str(ours), [ours]),
        (3, str(ours), [ours, other]),
        (4, str(other), [other]),
    ):
        TweetFactory(id=id, came_from=came_from)
        for one in sources:
            SourceTweet.objects.create(source=one, tweet_id=id, seen_at=now())
    return ours


def tracked():
    return set(Tweet.objects.values_list("pk", flat=True))


def test_the_question_shows_the_numbers_and_removes_nothing(staff, made):
    assert f'href="/sources/{made.pk}/remove/"' in paged(staff, made)

    told = words(staff.get(f"/sources/{made.pk}/remove/").content.decode())

    assert "Tweets that came from it 3 From nowhere else 2" in told
    assert Source.objects.count() == 2


def test_a_source_is_removed_with_its_tweets_and_shows_the_progress(staff, made):
    page = staff.post(f"/sources/{made.pk}/remove/", follow=True)
    assert "Untracking 2 tweets; then it is removed" in words(page.content.decode())
    assert "0 of 2 (0%) have been untracked" in words(paged(staff, made))
    page = staff.post(f"/sources/{made.pk}/remove/", follow=True)
    assert "It is already being removed." in words(page.content.decode())

    run_all()

    assert (tracked(), Source.objects.count()) == ({3, 4}, 1)


def test_a_source_is_removed_without_its_tweets(staff, made):
    staff.post(f"/sources/{made.pk}/remove")

    assert (tracked(), Source.objects.count()) == ({1, 2, 3, 4}, 1)


def test_removing_with_tweets_needs_both_permissions(client, made):
    editor = some_staff(client, "view_source", "delete_source")
    address = f"/sources/{made.pk}/remove/"

    assert "act-remove-tweets" not in editor.get(address).content.decode()
    assert editor.post(address).status_code == 403
    looker = some_staff_without(client)
    assert looker.get(address).status_code == 403
    run_all()
    assert tracked() == {1, 2, 3, 4}


def some_staff_without(client):
    client.force_login(User.objects.create_user("eve", is_staff=True))
    return client
