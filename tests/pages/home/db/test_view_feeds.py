"""Feeds of saved views: what they hold, and who reads them."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from tests.factories import TweetFactory
from tests.pages.conftest import flat
from tests.pages.home.homes import tweet
from trackers import roles
from trackers.dashboards.feeds import contents
from trackers.saved_views.models import SavedView
from trackers.timelines.followers import own
from trackers.tokens import feed_addresses
from trackers.tweets.models import Author, Tweet, TweetText
from tweetwatch.time_limits import TookTooLong

pytestmark = pytest.mark.django_db


def person(name):
    user = User.objects.create_user(name)
    roles.give(user, roles.VIEWER)
    return User.objects.get(pk=user.pk)


@pytest.fixture
def bob():
    return person("bob")


@pytest.fixture
def secret(bob):
    return feed_addresses.make_address(own(bob).pk, bob.pk, now=timezone.now())


@pytest.fixture
def view(bob):
    return SavedView.objects.create(user=bob, name="Liked", query="min_likes=5&sort=likes")


@pytest.fixture
def liked():
    Author.objects.create(id=7, username="vera")
    ids = [tweet(1, n) for n in (3, 2, 1)]
    for n, id in enumerate(ids):
        made = TweetFactory(id=id, likes=4 + n, author_id=7)
        TweetText.objects.create(tweet=made, text=f"words {n}", edit_history=[])
    return ids[1:]


def ids_of(answer):
    assert answer.status_code == 200, answer.content
    return [int(item["id"].rsplit("/", 1)[1]) for item in answer.json()["items"]]


def test_the_newest_matches_of_a_view_are_a_feed_without_gone_ones(client, secret, view, liked):
    address = f"/feeds/{secret}/views/{view.pk}"
    answer = client.get(f"{address}.json")
    assert ids_of(answer) == liked
    told = answer.json()
    assert told["title"] == "Liked"
    assert told["home_page_url"] == "http://testserver/tweets/?min_likes=5&sort=likes"
    assert secret not in answer.content.decode()
    atom = client.get(f"{address}.atom")
    assert atom["Content-Type"] == "application/atom+xml; charset=utf-8"
    assert "words 2" in atom.content.decode()

    Tweet.objects.filter(pk=liked[0]).update(gone_at=timezone.now())
    assert ids_of(client.get(f"{address}.json")) == liked[1:]


def test_a_feed_has_fifty_at_most_and_its_own_id_and_date(client, bob, secret, view):
    for n in range(60):
        TweetFactory(id=tweet(1, n), likes=9)
    other = SavedView.objects.create(user=bob, name="All", query="")
    feeds = [client.get(f"/feeds/{secret}/{path}") for path in (
        f"views/{view.pk}.atom", f"views/{other.pk}.atom", "home.atom",
    )]  # fmt: skip
    assert feeds[0].content.count(b"<entry>") == 50
    assert len({re.search(rb"<id>(urn:[^<]+)</id>", feed.content)[1] for feed in feeds}) == 3

    same = {"If-None-Match": feeds[0]["ETag"]} if "ETag" in feeds[0] else {
        "If-Modified-Since": feeds[0]["Last-Modified"]
    }  # fmt: skip
    assert client.get(f"/feeds/{secret}/views/{view.pk}.atom", headers=same).status_code == 304


def test_only_views_that_the_person_sees_are_read(client, bob, secret, liked):
    desk, eve = Group.objects.create(name="Desk"), person("eve")
    hers = SavedView.objects.create(user=eve, name="Hers", query="min_likes=5", team=desk)
    address = f"/feeds/{secret}/views/{hers.pk}.json"
    for path in (
        address,
        f"/feeds/{secret}/views/4711.json",
        f"/feeds/{secret}/views/{2**70}.json",
    ):
        assert client.get(path).status_code == 404
    bob.groups.add(desk)
    assert ids_of(client.get(address)) == liked

    # Who left the team, whose view was removed, and whose address was revoked, reads nothing.
    bob.groups.remove(desk)
    assert client.get(address).status_code == 404
    bob.groups.add(desk)
    hers.delete()
    assert client.get(address).status_code == 404
    assert client.get(f"/feeds/{'x' * 43}/views/1.json").status_code == 404


def test_a_view_that_takes_too_long_is_asked_again_later(client, secret, view, monkeypatch):
    def too_long(*_, **__):
        raise TookTooLong

    monkeypatch.setattr(contents, "newest_matches", too_long)
    answer = client.get(f"/feeds/{secret}/views/{view.pk}.atom")
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")


def test_the_page_shows_the_address_of_each_view_once(client, bob, view, liked):
    client.force_login(bob)
    shown = flat(client.post(f"/feeds/make/{own(bob).pk}"))

    [path] = re.findall(r"<code>http://testserver(/feeds/[\w-]{43}/views/\d+\.atom)</code>", shown)
    assert "The saved view <bdi>Liked</bdi>" in shown
    client.logout()
    assert ids_of(client.get(path.replace(".atom", ".json"))) == liked
    assert timedelta(0) <= timezone.now() - own(bob).addresses.get().made_at
