"""Saved views by the API: one's own and a team's, and their tweets."""

import pytest
from django.contrib.auth.models import Group, User

from tests.api.conftest import Program
from tests.factories import TweetFactory
from trackers.roles import OWNER, VIEWER
from trackers.saved_views.acts import MAX_SAVED_VIEWS
from trackers.saved_views.models import SavedView
from trackers.tweets.models import Author


@pytest.fixture
def desk():
    return Group.objects.create(name="Desk")


def program_of(client, name, *groups):
    user = User.objects.create_user(name)
    user.groups.set(Group.objects.filter(name__in=groups))
    return Program(client, user)


@pytest.fixture
def ada(client, desk):
    return program_of(client, "ada", VIEWER, "Desk")


@pytest.fixture
def eve(client, desk):
    return program_of(client, "eve", VIEWER, "Desk")


def save(program, name="Launch", query="min_likes=10", **more):
    return program.post("views", {"name": name, "query": query, **more})


def test_a_view_is_saved_listed_changed_and_removed(ada):
    made = save(ada)
    assert ada.status == 201
    assert made | {"id": ""} == {
        "id": "", "name": "Launch", "query": "min_likes=10", "team": None, "by": "ada",
        "mine": True,
    }  # fmt: skip
    assert ada.get("views") == {"views": [made]}

    changed = ada.ask("PATCH", f"views/{made['id']}", {"query": "lang=en&page=3"})
    assert (changed["name"], changed["query"]) == ("Launch", "lang=en")
    changed = ada.ask("PATCH", f"views/{made['id']}", {"name": "Start"})
    assert (changed["name"], changed["query"]) == ("Start", "lang=en")
    # The same name once more replaces it.
    assert save(ada, "Start", "lang=de")["id"] == made["id"]
    assert SavedView.objects.get().query == "lang=de"

    ada.delete(f"views/{made['id']}")
    assert (ada.status, ada.get("views")) == (204, {"views": []})
    ada.delete(f"views/{made['id']}")
    assert ada.status == 404


def test_a_team_sees_what_is_shared_and_only_its_maker_and_owners_change_it(ada, eve, desk, client):
    made = save(ada, team=str(desk.pk))
    assert made["team"] == {"id": str(desk.pk), "name": "Desk"}
    bob, olga = program_of(client, "bob", VIEWER), program_of(client, "olga", OWNER)

    assert eve.get("views")["views"] == [{**made, "mine": False}]
    assert bob.get("views") == olga.get("views") == {"views": []}
    for program in (eve, bob):
        for method, body in (("PATCH", {"name": "Mine"}), ("DELETE", None)):
            program.ask(method, f"views/{made['id']}", body)
            assert program.status == 404

    assert olga.ask("PATCH", f"views/{made['id']}", {"name": "Theirs"})["by"] == "ada"
    assert olga.ask("PATCH", f"views/{made['id']}", {"team": None})["team"] is None
    assert eve.get("views") == {"views": []}
    olga.delete(f"views/{made['id']}")
    assert olga.status == 404
    assert ada.get("views")["views"][0]["name"] == "Theirs"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"name": " "}, "needs a name"),
        ({"query": "min_lieks=1&tag=a"}, "query: Not understood: min_lieks."),
        ({"query": "sort=loudest"}, "query: Not understood: sort."),
        ({"query": "lang=german"}, "query: Not understood: lang."),
        ({"team": "4711"}, "You are in no such team."),
    ],
)
def test_a_view_that_cannot_be_is_refused(ada, body, says):
    told = save(ada, **body)
    assert ada.status == 422
    assert says in told["error"]
    assert not SavedView.objects.exists()


def test_a_plain_query_is_kept_as_the_list_writes_it(ada):
    for query, kept in (
        ("", "sort=newest"),
        ("sort=newest&tag=a", "tag=a"),
        ("min_likes=1,000&columns=likes&before=9&order=up", "min_likes=1000&columns=likes"),
    ):
        assert save(ada, query=query)["query"] == kept


def test_no_two_views_have_a_name_and_their_number_is_limited(ada):
    first, second = save(ada), save(ada, "Other")
    told = ada.ask("PATCH", f"views/{second['id']}", {"name": first["name"]})
    assert (ada.status, "cannot have the same name" in told["error"]) == (422, True)

    for n in range(MAX_SAVED_VIEWS):
        save(ada, f"v{n}")
    assert ada.status == 422
    assert SavedView.objects.count() == MAX_SAVED_VIEWS


def test_the_tweets_of_a_view_come_in_the_calls_order(ada, eve, desk, client):
    Author.objects.create(id=7, username="vera")
    for id in range(1, 8):
        TweetFactory(id=id, likes=id, author_id=7)
    view = save(ada, query="author=vera&min_likes=3&sort=likes&order=up", team=str(desk.pk))["id"]

    first = eve.get(f"tweets?view={view}&limit=3")
    assert [one["id"] for one in first["tweets"]] == ["7", "6", "5"]
    rest = eve.get(f"tweets?view={view}&limit=3&cursor={first['next']}")
    assert [one["id"] for one in rest["tweets"]] == ["4", "3"]
    assert rest["next"] is None
    assert [one["id"] for one in eve.get(f"tweets?view={view}&sort=score")["tweets"]] == [
        "7", "6", "5", "4", "3",
    ]  # fmt: skip
    lines = eve.raw(f"tweets/export?view={view}&format=jsonl").getvalue().splitlines()
    assert len(lines) == 5


def test_a_view_that_one_does_not_see_has_no_tweets(ada, eve, desk):
    view = save(ada)["id"]
    for path in (f"tweets?view={view}", f"tweets/export?view={view}", "tweets?view=4711"):
        told = eve.get(path)
        assert (eve.status, "You see no saved view" in told["error"]) == (422, True)
    told = ada.get(f"tweets?view={view}&min_likes=3&lang=en")
    assert ada.status == 400
    assert "view: not together with lang, min_likes." in told["error"]
