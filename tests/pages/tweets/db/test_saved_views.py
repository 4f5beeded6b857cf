"""A person's saved views: renamed, ordered, and had back at their place."""

import pytest
from django.contrib.auth.models import User

from tests.pages.conftest import flat
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


def test_a_removed_view_comes_back_to_its_place(staff, saved):
    staff.post(VIEWS, {"up": saved["Launch"]})
    page = flat(staff.post(f"{VIEWS}{saved['Launch']}/remove", follow=True))
    assert '<input type="hidden" name="position" value="2">' in page

    staff.post("/tweets/views/save", {"name": "Launch", "query": "tag=Launch", "position": "2"})
    assert names() == ["Alarm", "Launch", "Berlin"]


def test_views_of_others_are_neither_shown_nor_changed(staff, saved, client):
    eve = User.objects.create_superuser("eve")
    client.force_login(eve)

    assert "There is none yet" in flat(client.get(VIEWS))
    client.post(VIEWS, {f"name-{saved['Alarm']}": "Mine", "up": saved["Launch"]})
    assert names() == ["Alarm", "Berlin", "Launch"]
