"""Requests for one thing: a post, a user, the token's own user, a list; as a client expects."""

from fakex.tests.rules import RULES, change_rules
from fakex.tests.test_oauth2 import register

FACTS = {"user.fields": "created_at"}


def problem_types(body):
    return [error["type"].rsplit("/", 1)[1] for error in body.get("errors", ())]


def test_one_post_is_what_a_list_of_one_shows(x):
    [post] = x.live_ids(1)

    one = x.get(f"/2/tweets/{post}", **{"tweet.fields": "author_id,created_at"})
    many = x.tweets([post], **{"tweet.fields": "author_id,created_at"})

    assert one.status_code == 200
    assert one.json() == {"data": many.json()["data"][0]}


def test_one_post_that_is_gone_is_an_error_about_its_id(x):
    [post] = x.live_ids(1)
    x.fake("PUT", f"tweets/{post}", {"state": "deleted"})

    body = x.get(f"/2/tweets/{post}").json()

    assert "data" not in body
    [error] = body["errors"]
    assert (error["parameter"], error["resource_id"]) == ("id", post)
    assert error["detail"] == f"Could not find tweet with id: [{post}]."


def test_a_user_is_found_by_id_as_by_name(x, author):
    by_id = x.get(f"/2/users/{author}", **FACTS).json()

    assert by_id["data"]["id"] == author
    username = by_id["data"]["username"]
    assert by_id == x.get(f"/2/users/by/username/{username}", **FACTS).json()
    assert problem_types(x.get("/2/users/1").json()) == ["resource-not-found"]


def test_a_suspended_user_is_an_error(x, author):
    x.fake("PUT", f"authors/{author}", {"state": "suspended"})

    [error] = x.get(f"/2/users/{author}").json()["errors"]

    assert error["detail"] == f"User has been suspended: [{author}]."


def test_a_users_token_reads_its_owner(x, author):
    register(x, user_id=author)

    assert x.get("/2/users/me", token="access-1").json()["data"]["id"] == author


def test_a_list_says_who_owns_it_and_how_many_are_in_it(x):
    members = x.authors(3)
    x.fake("PUT", "lists/84839422", {"members": members})
    wanted = {"list.fields": "member_count,owner_id,private", "expansions": "owner_id"}

    body = x.get("/2/lists/84839422", **wanted).json()

    data = {**body["data"], "owner_id": ""}
    assert data == {
        "id": "84839422",
        "name": "List 84839422",
        "member_count": 3,
        "owner_id": "",
        "private": False,
    }
    assert [user["id"] for user in body["includes"]["users"]] == [body["data"]["owner_id"]]
    assert problem_types(x.get("/2/lists/1").json()) == ["resource-not-found"]


def test_a_list_costs_once_a_day_and_users_by_endpoint(x, author):
    x.fake("PUT", "lists/5", {"members": [author]})
    for _ in range(2):
        x.get("/2/lists/5")
        x.get(f"/2/users/{author}")

    billed = [entry["billed_micro"] for entry in x.fake("GET", "log")["entries"]]

    assert billed[-4:] == [5_000, 10_000, 0, 0]


def test_the_rules_of_an_app_are_counted(x):
    for app in ("one", "two"):
        secret = {"kind": "bearer", "bearer_token": app, "app": app, "project": "both"}
        x.fake("POST", "credentials", secret)
    change_rules(x, {"add": [{"value": "cat"}, {"value": "dog"}]}, token="one")
    x.fake("PUT", "world", {"usage_numbers": "ints"})

    data = x.get(f"{RULES}/counts", token="two").json()["data"]

    assert data["client_app_rules_count"]["rule_count"] == 0
    assert sorted(app["rule_count"] for app in data["all_project_client_apps"]) == [0, 2]
    assert (data["project_rules_count"], data["cap_per_client_app"]) == (2, 1000)
