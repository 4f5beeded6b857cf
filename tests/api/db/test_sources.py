"""Sources by the API: by the rules of the page's form."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from tests.factories import CredentialFactory, id_born
from trackers.ingest.sources.models import Source, SourcePoll
from trackers.tweets.snowflake import born_at


def test_a_source_is_added_read_changed_and_removed(owner):
    answer = owner.post(
        "sources", {"kind": "account", "of": "@NASA", "every": "90s", "priority": "high"}
    )
    assert owner.status == 201
    assert (answer["name"], answer["every"], answer["priority"]) == ("@NASA's posts", "90s", "high")
    assert (answer["backfill"], answer["late_by"], answer["state"]) == ("1d", None, "new")
    source = Source.objects.get()
    assert SourcePoll.objects.filter(pk=source.pk).exists()

    assert owner.get(f"sources/{source.pk}") == answer
    changed = owner.ask(
        "PATCH", f"sources/{source.pk}", {"pages": 3, "owner": "moon", "backfill": "all"}
    )
    assert (owner.status, changed["pages"], changed["owner"], changed["backfill"]) == (
        200,
        3,
        "moon",
        None,
    )
    owner.delete(f"sources/{source.pk}")
    assert (owner.status, Source.objects.count()) == (204, 0)
    assert [one.change_message for one in LogEntry.objects.order_by("pk")] == [
        "Added, by the API.", "Changed backfill, owner, pages, by the API.", "Removed, by the API.",
    ]  # fmt: skip


def test_a_source_is_paused_resumed_and_polled(owner):
    owner.post("sources", {"kind": "search", "of": "#artemis"})
    path = f"sources/{Source.objects.get().pk}"

    for _ in range(2):
        owner.post(f"{path}/pause")
        assert (owner.status, owner.get(path)["state"]) == (204, "paused")
    assert "Not polled" in owner.post(f"{path}/poll")["error"]
    assert owner.status == 409
    owner.post(f"{path}/resume")
    owner.post(f"{path}/poll")
    assert owner.status == 204


def test_a_name_or_a_link_says_its_kind_by_itself(owner):
    for of, kind in (("@nasa", "account"), ("#artemis", "search"), ("x.com/i/lists/7", "list")):
        assert owner.post("sources", {"of": of})["kind"] == kind

    refused = owner.post("sources", {"of": "nasa"})["error"]

    assert owner.status == 422
    assert "kind: “nasa” does not say by itself what it is, as @nasa, #artemis and" in refused


BAD = [
    ({"kind": "account", "of": "no name!"}, 422, "of: “no name!” is not a username"),
    (
        {"kind": "account", "of": "nasa", "every": "1s"},
        422,
        "every: An interval is 5 seconds at least",
    ),
    ({"kind": "account", "of": "nasa", "every": "often"}, 422, "every: “often” is not a duration"),
    ({"kind": "account", "of": "other", "pages": 0}, 422, "pages: A poll reads 1 to 500"),
    ({"kind": "account", "of": "TAKEN"}, 422, "of: It already exists: @taken's posts."),
    ({"kind": "stream", "of": "moon", "exclude_replies": True}, 422, "exclude_replies: Add -is:"),
    ({"kind": "import", "of": "x"}, 400, "kind: "),
    ({"kind": "account"}, 400, "of: Field required"),
    ({"kind": "account", "of": "x", "more": 1}, 400, "more: "),
]


@pytest.mark.parametrize(("given", "status", "says"), BAD, ids=[one[2][:14] for one in BAD])
def test_the_api_refuses_what_the_form_refuses_with_the_same_sentences(owner, given, status, says):
    Source.objects.create(kind="account", of="taken")

    told = owner.post("sources", given)

    assert (owner.status, told["error"].startswith(says)) == (status, True), told
    assert owner.body["errors"][0]["field"] == says.partition(":")[0]
    assert Source.objects.count() == 1


def test_only_some_settings_of_a_stream_can_be_changed(owner):
    source = Source.objects.create(kind="stream", of="moon")
    told = owner.ask("PATCH", f"sources/{source.pk}", {"every": "1m"})
    assert (owner.status, told["error"]) == (422, "every: live: moon has no such setting.")


def test_sources_are_listed_in_pages_and_filtered(owner):
    for number in range(5):
        Source.objects.create(kind="search", of=f"n{number}", owner="a" if number % 2 else "b")
    Source.objects.create(kind="account", of="nasa")

    def names(query):
        told = owner.get(f"sources?{query}")
        assert owner.status == 200
        return [one["of"] for one in told["sources"]], told["next"]

    first, cursor = names("kind=search&limit=3")
    assert (first, names(f"kind=search&limit=3&cursor={cursor}")) == (
        ["n0", "n1", "n2"],
        (["n3", "n4"], None),
    )
    assert names("owner=a") == (["n1", "n3"], None)
    owner.get(f"sources?limit=3&cursor={cursor}")
    assert owner.status == 400
    owner.get("sources?owner=%00")
    assert owner.status == 400


def test_a_list_takes_as_many_queries_for_any_number_of_sources(
    owner, django_assert_max_num_queries
):
    for number in range(20):
        Source.objects.create(kind="search", of=f"n{number}")
    with django_assert_max_num_queries(12):
        assert len(owner.get("sources")["sources"]) == 20


def test_without_the_permission_sources_are_neither_shown_nor_changed(program):
    program.user.user_permissions.clear()
    source = Source.objects.create(kind="search", of="moon")
    for method, path in (
        ("GET", "sources"),
        ("GET", f"sources/{source.pk}"),
        ("DELETE", f"sources/{source.pk}"),
    ):
        program.ask(method, path)
        assert program.status == 403
    program.post("sources", {"kind": "search", "of": "sun"})
    assert (program.status, Source.objects.count()) == (403, 1)
    assert program.get("sources/9999")["error"].startswith("The user of this token lacks")


def test_lost_posts_are_counted_only_once_the_cost_was_confirmed(owner):
    owner.post("sources", {"kind": "search", "of": "#artemis"})
    source, now = Source.objects.get(), timezone.now()
    path = f"sources/{source.pk}/count-lost"
    assert "no lost gap" in owner.post(path, {"confirm": True})["error"]
    ids = {
        name: id_born(now - timedelta(days=ago)) for name, ago in (("from_id", 45), ("to_id", 9))
    }
    gap = source.gaps.create(**ids, why="reach", found_at=now, counted=7)
    assert "only bearer tokens" in owner.post(path, {"confirm": True})["error"]
    CredentialFactory()

    refused = owner.post(path, {})

    assert owner.status == 409
    assert refused["error"].startswith(
        "Have X count the posts that search: #artemis lost? That is about 2 requests, for $0.02."
    )
    # Of what is counted nothing is asked for.
    source.gaps.update(counted_from=born_at(gap.from_id))
    assert owner.post(path, {"confirm": True}) == {"posts": 7, "requests_left": 0}


def test_the_archive_is_searched_only_once_its_cost_was_confirmed(owner):
    owner.post("sources", {"kind": "search", "of": "#artemis"})
    source = Source.objects.get()
    path = f"sources/{source.pk}/full-archive"
    assert "no lost gap" in owner.post(path, {"confirm": True})["error"]
    now = timezone.now()
    gap = source.gaps.create(
        from_id=id_born(now - timedelta(days=20)),
        to_id=id_born(now - timedelta(days=9)),
        why="reach",
        found_at=now,
    )
    assert "only bearer tokens" in owner.post(path, {"confirm": True})["error"]
    CredentialFactory()

    refused = owner.post(path, {})
    assert owner.status == 409
    assert refused["error"].startswith(
        "Search X's full archive for 11 days of posts that search: #artemis lacks? How many there"
    )
    assert not Source.objects.get().gaps.exclude(archive_asked_at=None).exists()

    owner.post(path, {"confirm": True})
    gap.refresh_from_db()
    assert owner.status == 204
    assert gap.archive_asked_at is not None
    assert "no lost gap" in owner.post(path, {"confirm": True})["error"]
    assert LogEntry.objects.first().change_message == "Had X's full archive searched, by the API."
