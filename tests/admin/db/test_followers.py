"""Followers in the admin: their homes told, laid out anew, dropped; their addresses revoked."""

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from tests.admin.conftest import act, messages_on
from tests.timelines.homes.world import bring, built, configure, follower, source, tweet
from trackers.timelines import homes
from trackers.timelines.models import BuiltHome, Follower, HomeRebuild
from trackers.tokens import feed_addresses
from trackers.tokens.models import FeedAddress

LIST = "/admin/trackers/follower/"


@pytest.fixture
def home():
    one, came_from = follower(), source()
    homes.follow(one, source_id=came_from)
    bring(came_from, tweet(1), tweet(2))
    return one


def test_a_home_is_created_for_a_team(staff):
    team = Group.objects.create(name="desk")

    staff.post(f"{LIST}add/", {"team": team.pk, "user": ""})
    assert Follower.objects.get().team == team
    page = staff.get(LIST).content.decode()
    assert "desk" in page
    assert "a role too" in page, "without one, nobody sees the team's home"

    staff.post(f"{LIST}add/", {"team": "", "user": ""})
    assert Follower.objects.count() == 1


def test_a_home_is_described_rebuilt_and_expired(staff, home):
    configure(strategy="sized")
    built(home, "sized")
    for page in (LIST, f"{LIST}{home}/change/"):
        assert "sized: complete, down to tweet 0" in staff.get(page).content.decode()

    page = act(staff, LIST, "rebuild", home)
    assert messages_on(page)[0].startswith("The workers will rebuild 1 home")
    assert list(HomeRebuild.objects.values_list("key", flat=True)) == [home]

    act(staff, LIST, "expire", home)
    assert not BuiltHome.objects.exists()
    assert "not built: read from the sources" in staff.get(LIST).content.decode()


def test_feed_addresses_are_revoked(staff, home):
    other, members = follower(), [User.objects.create_user(name) for name in ("ann", "ben")]
    for user in members:
        feed_addresses.make_address(home, user.pk, now=timezone.now())
    feed_addresses.make_address(other, members[0].pk, now=timezone.now())

    act(staff, LIST, "revoke", home, sure="yes")

    assert FeedAddress.objects.get().follower_id == other
