"""Saved views: renamed, ordered, shared with a team, and had back at their place."""

import re

import pytest
from django.contrib.auth.models import Group, User

from tests.pages.conftest import flat
from trackers.roles import OWNER, VIEWER
from trackers.saved_views.models import SavedView

pytestmark = pytest.mark.django_db
VIEWS = "/tweets/views/"


@pytest.fixture
def saved(staff):
    for name in ("Launch", "Berlin", "Alarm"):
        staff.post("/tweets/views/save", {"name": name, "query": f"tag={name}"})
    return {view.name: view.pk for view in SavedView.objects.all()}


def names():
    return list(SavedView.objects.values_list("name", flat=True))


def test_views_are_moved_up_and_stand_so_above_the_tweets(staff, saved):
    staff.post(VIEWS, {"up": saved["Launch"]})
    assert names() == ["Alarm", "Launch", "Berlin"]

    page = flat(staff.get("/tweets/"))
    assert page.index(">Alarm<") < page.index(">Launch<") < page.index(">Berlin<")
    # The first one stays the first, and a new one is the last.
    staff.post(VIEWS, {"up": saved["Alarm"]})
    staff.post("/tweets/views/save", {"name": "Aa", "query": ""})
    assert names() == ["Alarm", "Launch", "Berlin", "Aa"]


def test_names_are_changed_and_may_be_swapped(staff, saved):
    staff.post(VIEWS, {f"name-{saved['Alarm']}": "Berlin", f"name-{saved['Berlin']}": " Alarm "})
    assert SavedView.objects.get(name="Berlin").query == "tag=Alarm"
    assert SavedView.objects.get(name="Alarm").query == "tag=Berlin"

    staff.post(VIEWS, {f"name-{saved['Alarm']}": ""})
    assert "Berlin" in names()
    answer = staff.post(VIEWS, {f"name-{saved['Alarm']}": "Launch"}, follow=True)
    assert "Two views have the same name" in flat(answer)
    assert sorted(names()) == ["Alarm", "Berlin", "Launch"]


def undo(page):
    [signed] = re.findall(r'name="removed" value="([^"]*)"', page)
    return {"removed": signed}


def test_a_removed_view_comes_back_to_its_place(staff, saved):
    staff.post(VIEWS, {"up": saved["Launch"]})
    form = undo(flat(staff.post(f"{VIEWS}{saved['Launch']}/remove", follow=True)))
    assert names() == ["Alarm", "Berlin"]

    staff.post(f"{VIEWS}undo", form)
    assert names() == ["Alarm", "Launch", "Berlin"]
    # What used it by its id finds it again.
    assert SavedView.objects.get(name="Launch").pk == saved["Launch"]

    again = staff.post(f"{VIEWS}undo", form, follow=True)
    assert "It is there again" in flat(again)
    forged = {"removed": form["removed"][:-1] + "x"}
    assert "too late" in flat(staff.post(f"{VIEWS}undo", forged, follow=True))


def test_views_of_others_are_neither_shown_nor_changed(staff, saved, client):
    eve = User.objects.create_superuser("eve")
    client.force_login(eve)

    assert "You have none yet" in flat(client.get(VIEWS))
    client.post(VIEWS, {f"name-{saved['Alarm']}": "Mine", "up": saved["Launch"]})
    assert names() == ["Alarm", "Berlin", "Launch"]


@pytest.fixture
def desk(staff):
    team = Group.objects.create(name="Desk")
    User.objects.get(username="ada").groups.add(team)
    return team


def signed_in(client_class, name, *, groups):
    user = User.objects.create_user(name)
    user.groups.set(Group.objects.filter(name__in=groups))
    client = client_class()
    client.force_login(user)
    return client


def test_a_view_is_shared_with_a_team(staff, saved, desk, client):
    launch = saved["Launch"]
    eve = signed_in(type(client), "eve", groups=[VIEWER, "Desk"])
    bob = signed_in(type(client), "bob", groups=[VIEWER])
    assert "Launch" not in flat(eve.get("/tweets/"))

    staff.post(VIEWS, {f"team-{launch}": desk.pk})

    for page in ("/tweets/", VIEWS):
        shown = flat(eve.get(page))
        assert "Launch" in shown
        assert "Desk, by ada" in shown
        assert "Berlin" not in shown
        assert "Launch" not in flat(bob.get(page))
    assert "Launch (Desk, by ada)" in flat(eve.get("/search/?q=launch"))
    assert eve.get(f"/sets/view/{launch}/").status_code == 200
    assert bob.get(f"/sets/view/{launch}/").status_code == 404
    # Whose it is, is said to others alone.
    assert "by ada" not in flat(staff.get("/tweets/"))

    staff.post(VIEWS, {f"team-{launch}": ""})
    assert "Launch" not in flat(eve.get("/tweets/"))


def test_members_only_look_at_what_others_share(staff, saved, desk, client):
    launch = saved["Launch"]
    staff.post(VIEWS, {f"team-{launch}": desk.pk})
    eve = signed_in(type(client), "eve", groups=[VIEWER, "Desk"])

    assert f"{VIEWS}{launch}/remove" not in flat(eve.get("/tweets/")) + flat(eve.get(VIEWS))
    assert eve.post(f"{VIEWS}{launch}/remove").status_code == 404
    eve.post(VIEWS, {f"name-{launch}": "Mine", f"team-{launch}": ""})
    view = SavedView.objects.get(pk=launch)
    assert (view.name, view.team) == ("Launch", desk)
    # Saved under the same name it is a view of her own.
    eve.post(f"{VIEWS}save", {"name": "Launch", "query": "lang=en"})
    assert SavedView.objects.get(pk=launch).query == "tag=Launch"
    assert SavedView.objects.filter(name="Launch").count() == 2


def test_an_owner_removes_what_is_shared_with_any_team_and_it_stays_its_makers(
    staff, saved, desk, client
):
    launch = saved["Launch"]
    staff.post(VIEWS, {f"team-{launch}": desk.pk})
    olga = signed_in(type(client), "olga", groups=[OWNER])
    assert "Launch" not in flat(olga.get("/tweets/"))
    assert "Desk, by ada" in flat(olga.get(VIEWS))
    assert olga.post(f"{VIEWS}{saved['Alarm']}/remove").status_code == 404

    form = undo(flat(olga.post(f"{VIEWS}{launch}/remove", {"arrange": "yes"}, follow=True)))
    assert not SavedView.objects.filter(pk=launch).exists()
    olga.post(f"{VIEWS}undo", form)
    back = SavedView.objects.get(pk=launch)
    assert (back.user.username, back.team) == ("ada", desk)

    # Without its team, which ended meanwhile, it is its maker's alone.
    staff.post(f"{VIEWS}{launch}/remove")
    desk.delete()
    olga.post(f"{VIEWS}undo", form)
    assert SavedView.objects.get(pk=launch).team is None


def test_a_view_is_shared_with_ones_own_teams_only_and_outlasts_them(staff, saved, desk, client):
    other = Group.objects.create(name="Others")
    role = Group.objects.get(name=VIEWER)
    for team in (other.pk, role.pk, 0, 99):
        told = staff.post(VIEWS, {f"team-{saved['Launch']}": team}, follow=True)
        assert "You are in no such team." in flat(told)
    staff.post(VIEWS, {f"team-{saved['Launch']}": desk.pk})

    # Its maker left the team: it is still shared, and can be renamed.
    User.objects.get(username="ada").groups.remove(desk)
    page = flat(staff.get(VIEWS))
    assert f'<option value="{desk.pk}" selected>shared with Desk</option>' in page
    staff.post(VIEWS, {f"team-{saved['Launch']}": desk.pk, f"name-{saved['Launch']}": "Start"})
    view = SavedView.objects.get(pk=saved["Launch"])
    assert (view.name, view.team) == ("Start", desk)

    desk.delete()
    view.refresh_from_db()
    assert view.team is None
    assert "Start" in flat(staff.get("/tweets/"))


def test_a_person_who_left_the_team_sees_its_views_no_more(staff, saved, desk, client):
    staff.post(VIEWS, {f"team-{saved['Launch']}": desk.pk})
    eve = signed_in(type(client), "eve", groups=[VIEWER, "Desk"])
    assert "Launch" in flat(eve.get("/tweets/"))

    User.objects.get(username="eve").groups.remove(desk)

    assert "Launch" not in flat(eve.get("/tweets/"))
    assert eve.get(f"/sets/view/{saved['Launch']}/").status_code == 404
