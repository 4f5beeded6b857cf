"""Tags in the admin: renamed, merged, removed, with the number of tweets before."""

import pytest
from django.contrib.auth.models import Permission, User

from tests.admin.conftest import messages_on
from tests.factories import TweetFactory
from trackers import tasks
from trackers.tweets.tags import tagging
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import get_or_create_tag, offered_tags

TAGS = "/admin/trackers/tag/"


@pytest.fixture
def two():
    for id in (1, 2):
        TweetFactory(id=id)
    one, other = get_or_create_tag("launch"), get_or_create_tag("start")
    tagging.tag_tweets(one.pk, [1, 2])
    tagging.tag_tweets(other.pk, [2])
    return one, other


def choose(staff, action, *tags, **given):
    chosen = {"action": action, "_selected_action": [str(tag.pk) for tag in tags]}
    return staff.post(TAGS, {**chosen, **given}, follow=True)


def test_the_list_shows_how_many_tweets_have_each_tag(staff, two):
    page = staff.get(TAGS).content.decode()

    assert "2 tweets" in page
    assert "1 tweet<" in page
    assert 'href="/tweets/?tag=launch"' in page


def test_a_tag_is_renamed_but_not_to_the_name_of_another(staff, two):
    first, other = two
    page = staff.post(f"{TAGS}{first.pk}/change/", {"name": "START"})
    assert "There is a tag “start” already. Merge the two" in page.content.decode()

    staff.post(f"{TAGS}{first.pk}/change/", {"name": " #Lift-off "})
    staff.post(f"{TAGS}{other.pk}/change/", {"name": "Start"})
    assert offered_tags() == ["Lift-off", "Start"]
    staff.post(f"{TAGS}add/", {"name": "one,two"})
    assert Tag.objects.count() == 2


def test_tags_are_merged_into_the_chosen_tag(staff, two):
    first, other = two
    page = choose(staff, "merge", first, other).content.decode()
    assert "start (1 tweet)" in page
    assert offered_tags() == ["launch", "start"]
    assert "takes two tags" in messages_on(choose(staff, "merge", first))[0]

    page = choose(staff, "merge", first, other, into=str(other.pk), sure="yes")
    assert messages_on(page) == [
        "Merged 1 into “start”. Their tweets are moved within a minute or so."
    ]
    assert offered_tags() == ["start"]
    tasks.sweep_tags()

    assert tagging.tags_of([1, 2]) == {1: ["start"], 2: ["start"]}


def test_removing_a_tag_asks_first_and_says_how_many_tweets_have_it(staff, two):
    first, _ = two
    page = choose(staff, "remove", first).content.decode()
    assert "launch (2 tweets)" in page
    assert offered_tags() == ["launch", "start"]

    assert messages_on(choose(staff, "remove", first, sure="yes")) == [
        "Removed 1; the tweets stay."
    ]
    tasks.sweep_tags()

    assert tagging.tags_of([1, 2]) == {2: ["start"]}
    assert staff.get(f"{TAGS}{first.pk}/change/", follow=True).status_code == 200


def test_view_permission_cannot_remove_tags(client, two):
    user = User.objects.create_user("bob", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_tag"))
    client.force_login(user)

    choose(client, "remove", two[0], sure="yes")

    assert offered_tags() == ["launch", "start"]
