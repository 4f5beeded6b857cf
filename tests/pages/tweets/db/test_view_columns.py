"""A saved view as a column: one's own or a team's, kept up to date, and lost."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from tests.factories import TweetFactory
from tests.pages.conftest import flat
from tests.pages.home.homes import further, row_ids, tweet
from tests.pages.sources import words
from trackers.dashboards.models import Column
from trackers.saved_views.models import SavedView
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db


def liked(*ids, likes=100):
    for id in ids:
        TweetFactory(id=id, likes=likes, created_at=timezone.now())


@pytest.fixture
def ada(staff):
    return User.objects.get(username="ada")


@pytest.fixture
def view(ada):
    return SavedView.objects.create(user=ada, name="Liked", query="min_likes=100&sort=likes")


@pytest.fixture
def column(staff, view):
    assert "Liked is a column now" in flat(add(staff, view))
    return f"/columns/{Column.objects.get().pk}/"


def add(client, view):
    return client.post("/columns/add", {"shows": f"view:{view.pk}"}, follow=True)


def test_a_view_is_offered_once_and_shows_what_matches(staff, view):
    liked(tweet(1), tweet(3))
    liked(tweet(2), likes=99)
    assert f'<option value="view:{view.pk}">Liked</option>' in flat(staff.get("/columns/"))

    page = add(staff, view)

    assert row_ids(page) == [tweet(3), tweet(1)]
    assert 'href="/tweets/?min_likes=100&amp;sort=likes"' in flat(page)
    assert f'value="view:{view.pk}"' not in flat(page)
    assert "already" in words(flat(add(staff, view)))


def test_a_column_is_scrolled_without_gap_or_repetition(staff, view):
    liked(*(tweet(1, n) for n in range(0, 140, 2)))
    liked(*(tweet(1, n) for n in range(1, 140, 2)), likes=1)
    page = add(staff, view)
    seen = row_ids(page)

    while address := further(page):
        Tweet.objects.filter(pk=tweet(1, 2)).update(gone_at=timezone.now())
        page = staff.get(address)
        seen += row_ids(page)

    assert seen == [tweet(1, n) for n in range(138, -1, -2) if n != 2]


def test_a_column_is_paged_and_back_without_javascript(staff, column):
    liked(*(tweet(1, n) for n in range(70)))
    first = staff.get(column)

    older = staff.get(f"{column}?before={row_ids(first)[-1]}")
    back = staff.get(f"{column}?after={row_ids(older)[0]}")

    assert len(row_ids(older)) == 20
    assert row_ids(back) == row_ids(first)
    assert staff.get(f"{column}?part=new&clock=x").status_code == 404


def test_a_column_shows_new_ones_and_drops_those_that_no_longer_match(staff, column):
    liked(tweet(4), tweet(5), tweet(6))
    clock = re.search(r'data-clock="([^"]+)"', flat(staff.get("/columns/")))[1]
    liked(tweet(7))
    liked(tweet(8), likes=1)
    Tweet.objects.filter(pk=tweet(5)).update(likes=99)
    Tweet.objects.filter(pk=tweet(4)).update(gone_at=timezone.now())
    given = {"clock": clock, "top": tweet(6), "ids": f"{tweet(6)},{tweet(5)},{tweet(4)}"}

    now = staff.get(column, {"part": "now", **given})
    new = staff.get(column, {"part": "new", **given})

    assert words(now.content.decode()).startswith("1 new")
    assert f'data-gone="{tweet(4)} {tweet(5)}"' in now.content.decode()
    assert row_ids(now) == [tweet(6)]
    assert row_ids(new) == [tweet(7)]


def test_nothing_matches(staff, column):
    page = flat(staff.get("/columns/"))
    assert "Nothing matches among the newest tweets." in page


def test_a_removed_view_leaves_a_column_that_says_so_until_it_is_back(staff, view, column):
    liked(tweet(1))
    removed = flat(staff.post(f"/tweets/views/{view.pk}/remove", follow=True))

    page = staff.get("/columns/")
    assert "was removed, or is not shared with you any more" in flat(page)
    assert "A view that you no longer see" in flat(page)
    for part in ("", "?part=now", "?part=new", "?part=rows"):
        assert staff.get(f"{column}{part}").status_code == 403

    [signed] = re.findall(r'name="removed" value="([^"]*)"', removed)
    staff.post("/tweets/views/undo", {"removed": signed})
    assert row_ids(staff.get("/columns/")) == [tweet(1)]
    staff.post(f"/tweets/views/{view.pk}/remove")
    staff.post(f"{column}remove")
    assert "No columns yet" in flat(staff.get("/columns/"))


def test_a_teams_view_is_a_column_while_one_is_in_the_team(staff, ada, client):
    liked(tweet(1))
    desk, eve = Group.objects.create(name="Desk"), User.objects.create_user("eve")
    view = SavedView.objects.create(user=eve, name="Liked", query="min_likes=100")
    for id in (view.pk, 4711, 2**40):
        assert staff.post("/columns/add", {"shows": f"view:{id}"}).status_code == 404
    view.team = desk
    view.save()
    assert add(staff, view).status_code == 404
    ada.groups.add(desk)

    page = add(staff, view)
    assert row_ids(page) == [tweet(1)]
    assert "Liked (Desk, by eve)" in flat(page)

    ada.groups.remove(desk)
    page = flat(staff.get("/columns/"))
    assert "was removed, or is not shared with you any more" in page
    assert "Liked" not in page
    assert staff.get(f"/columns/{Column.objects.get().pk}/").status_code == 403


def test_columns_of_views_take_a_bounded_number_of_statements(
    staff, ada, django_assert_max_num_queries
):
    liked(*(tweet(1, n) for n in range(30)))
    with django_assert_max_num_queries(12):
        staff.get("/columns/")
    for n in range(4):
        view = SavedView.objects.create(user=ada, name=f"v{n}", query=f"min_likes={n + 1}")
        Column.objects.create(user=ada, position=n, view=view)

    # For each: its search (its settings, its candidates, what is kept), its tweets, their rows.
    with django_assert_max_num_queries(12 + 4 * 14):
        page = staff.get("/columns/")

    assert len(row_ids(page)) == 4 * 20
