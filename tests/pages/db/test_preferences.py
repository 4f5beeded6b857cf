"""How a person wants pages: kept with the account, and in the first answer to any device."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.pages.conftest import flat
from tests.pages.tweets.db.test_sets_page import HOUR, posted
from trackers import roles
from trackers.tokens.models import Preferences, TimeFormat

pytestmark = pytest.mark.django_db
DARK = {"theme": "dark", "density": "compact", "start": "tweets"}
RIGHT = "a password of no account"


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def vera():
    user = User.objects.create_user("vera", password=RIGHT)
    roles.give(user, roles.VIEWER)
    return user


def device(user):
    client = Client()
    client.force_login(user)
    return client


def head(answer):
    return re.search(r"<html[^>]*>", flat(answer))[0]


def test_a_choice_on_one_device_is_painted_first_on_another(vera):
    here, there = device(vera), device(vera)
    assert "data-" not in head(there.get("/account/"))

    answer = here.post("/account/pages/", DARK, follow=True)

    assert "Your pages are like this on each of your devices." in flat(answer)
    painted = head(there.get("/account/"))
    assert 'data-theme="dark" data-kept-theme="dark" data-density="compact"' in painted
    assert 'data-theme="dark"' in head(there.get("/nothing/here/"))
    assert '<option value="compact" selected>' in flat(there.get("/account/pages/"))
    assert "data-" not in head(Client().get("/login/"))


def test_the_button_of_the_menu_changes_the_theme_alone(vera):
    page = device(vera)
    page.post("/account/pages/", DARK)
    assert page.post("/account/theme", {"theme": "system"}).status_code == 204
    assert Preferences.objects.values("theme", "density", "start").get() == {
        **DARK,
        "theme": "system",
    }
    painted = head(page.get("/account/"))
    assert " data-theme=" not in painted
    assert 'data-kept-theme="system"' in painted
    assert page.post("/account/theme", {"theme": "pink"}).status_code == 400


def test_the_first_page_is_where_the_root_and_logging_in_lead(vera):
    Preferences.objects.create(user=vera, start="columns")
    page = Client()
    logged_in = page.post("/login/", {"username": "vera", "password": RIGHT})
    assert logged_in.headers["Location"] == "/columns/"
    assert page.get("/").headers["Location"] == "/columns/"
    # Today has an address of its own then, and a link with a question is one to it.
    today = flat(page.get("/today/"))
    assert 'href="/today/" data-key="o" aria-current="page"' in today
    assert page.get("/?kiosk=1").status_code == 200
    assert page.get("/?part=now").status_code == 200


def test_today_is_the_first_page_of_who_chose_nothing(vera):
    page = device(vera)
    shown = flat(page.get("/"))
    assert 'href="/" data-key="o" aria-current="page"' in shown


def test_a_first_page_that_a_person_may_not_see_is_passed_over(vera):
    Preferences.objects.create(user=vera, start="alerts")
    vera.groups.clear()
    vera.user_permissions.add(Permission.objects.get(codename="view_tweet"))
    assert device(vera).get("/").status_code == 200


@pytest.mark.parametrize("wrong", [{"theme": "x"}, {"density": ""}, {"start": "/evil/"}])
def test_an_unknown_choice_is_refused(vera, wrong):
    page = device(vera).post("/account/pages/", {**DARK, **wrong})
    assert 'class="fault"' in flat(page)
    assert not Preferences.objects.exists()


@pytest.mark.parametrize(
    ("first", "days"),
    [
        (0, ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]),
        (5, ["Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri"]),
        (6, ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]),
    ],
)
def test_a_heat_map_begins_with_the_first_day_of_the_week(vera, first, days):
    posted(30 * HOUR, 1000)
    TimeFormat.objects.create(user=vera, zone="UTC", week_start=first)
    page = device(vera)
    shown = page.get("/sets/all/all/").content.decode()
    heat = shown.partition('<table class="heat">')[2].partition("</table>")[0]
    assert re.findall(r'<th scope="row">(\w+)</th>', heat) == days
    picture = page.get("/sets/all/all/times.svg").content.decode()
    assert re.findall(r">(Mon|Tue|Wed|Thu|Fri|Sat|Sun)<", picture) == days
