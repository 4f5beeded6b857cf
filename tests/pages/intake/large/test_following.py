import csv
import io

import pytest
from django.contrib.auth.models import User

from tests.pages.conftest import watched
from tests.pages.home.homes import followed, home_of, row_ids, source, team, tweet
from tests.pages.sources import words
from trackers.ingest.sources.models import Source
from trackers.timelines import homes
from trackers.timelines.models import Follow, Follower
from trackers.tweets.models import Author

pytestmark = pytest.mark.django_db


def act(staff, act, **given):
    return staff.post(f"/following/{act}", given, follow=True)


def test_a_source_is_followed_and_unfollowed_from_its_page(staff):
    made = source("kittens")
    address = f"/sources/{made}/"

    page = act(staff, "follow", source=made, back=address)
    assert page.request["PATH_INFO"] == address
    assert "You follow search: kittens from now on." in words(page.content.decode())
    assert 'action="/following/unfollow"' in page.content.decode()
    assert list(Follow.objects.values_list("origin_id", flat=True)) == [made]

    page = act(staff, "unfollow", source=made, back=address)
    assert "no longer" in words(page.content.decode())
    assert 'action="/following/follow"' in page.content.decode()
    assert not Follow.objects.exists()


def test_the_author_of_a_tweet_is_followed_from_its_page(staff):
    watched_source = watched(author_id=77, username="grace")
    page = staff.get(f"/tweets/{watched_source.pk}/").content.decode()
    assert '<input type="hidden" name="author" value="77">' in page

    act(staff, "follow", author=77, back=f"/tweets/{watched_source.pk}/")

    assert row_ids(staff.get("/home/")) == [watched_source.pk]
    assert "@grace" in staff.get("/following/").content.decode()


@pytest.mark.parametrize("name", ["@Grace", "grace", " GRACE "])
def test_an_account_is_followed_by_its_name(staff, name):
    Author.objects.create(pk=77, username="grace")

    page = act(staff, "follow", account=name)

    assert "You follow @grace from now on." in words(page.content.decode())
    assert Follow.objects.get().author_id == 77


@pytest.mark.parametrize("name", ["", "@", "nobody", "a\0b", "x" * 500])
def test_an_unknown_name_is_reported(staff, name):
    Author.objects.create(pk=77, username="")

    page = act(staff, "follow", account=name)

    assert "No account of that name is known here yet." in words(page.content.decode())
    assert not Follow.objects.exists()


def test_a_member_follows_for_a_team(staff):
    crew, made = team("Crew", "ada"), source()

    act(staff, "follow", source=made, team=crew.pk)

    assert Follow.objects.get().follower == Follower.objects.get(team=crew)


def test_a_non_member_cannot_follow_for_a_team(staff):
    crew, made = team("Crew"), source()

    assert act(staff, "follow", source=made, team=crew.pk).status_code == 403
    assert not Follow.objects.exists()


@pytest.mark.parametrize(
    "given",
    [
        {}, {"source": "1", "author": "1"}, {"source": "x"}, {"source": "4711"}, {"author": "-5"},
        {"author": str(2**63)}, {"source": "0"}, {"source": "1", "team": "x"},
    ],
)  # fmt: skip
def test_an_unknown_source_cannot_be_followed(staff, given):
    assert act(staff, "follow", **given).status_code == 404
    assert act(staff, "unfollow", **given).status_code == 404
    assert not Follow.objects.exists()


def test_an_unknown_act_is_404(staff):
    assert act(staff, "praise", source=source()).status_code == 404


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example/", "javascript:x"])
def test_a_foreign_return_address_is_ignored(staff, back):
    answer = staff.post("/following/follow", {"source": source(), "back": back})

    assert answer.url == "/following/"


def test_everyone_sees_who_follows_what(staff):
    made = followed(tweet(1))
    other = Follower.objects.create(user=User.objects.create_user("grace")).pk
    homes.follow(other, source_id=made)
    Author.objects.create(pk=8, username="linus")
    homes.follow(other, author_id=8)

    mine = words(staff.get("/following/").content.decode())
    everyone = words(staff.get("/following/?who=all").content.decode())
    of_one = words(staff.get(f"/following/?who=all&of={made}").content.decode())

    assert "grace" not in mine
    assert everyone.count(" grace ") == 2
    assert "@linus" in everyone
    assert "@linus" not in of_one
    assert of_one.count(" grace ") == 1


def test_every_source_can_be_chosen(staff):
    Source.objects.create(kind="account", of="nasa")

    page = staff.get("/following/?who=sources").content.decode()

    assert "nasa" in page
    assert 'action="/following/follow"' in page


def test_a_long_list_has_pages_with_each_follow_once(staff):
    me, wanted = home_of(), []
    for n in range(230):
        wanted.append(source(f"number {n:03}"))
        Follow.objects.create(follower_id=me, origin_id=wanted[-1], followed_at="2026-11-01T00:00Z")
    seen, address = [], "?who=all"

    while address:
        page = staff.get(f"/following/{address}").content.decode()
        seen += [part[:3] for part in page.split(">search: number ")[1:]]
        address = page.partition('" rel="next"')[0].rpartition('href="')[2].replace("&amp;", "&")
        address = address if 'rel="next"' in page else ""

    assert seen == [f"{n:03}" for n in range(230)]


def test_all_follows_are_exported_as_csv(staff):
    made = followed(tweet(1))
    crew = Follower.objects.create(team=team("Crew", "ada")).pk
    Author.objects.create(pk=8, username="=1+1")
    homes.follow(crew, author_id=8)
    Follower.objects.filter(pk=home_of()).update(user=None, team=team("＝1+1"))

    answer = staff.get("/following/follows.csv?who=all")

    lines = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert lines[0] == ["follower", "who", "kind", "id", "follows", "since"]
    assert [line[:5] for line in lines[1:]] == [
        ["Crew", "team", "An account", "8", "'@=1+1"],
        ["'＝1+1", "team", "A search", str(made), str(Source.objects.get())],
    ]


@pytest.mark.parametrize("query", ["who=x", "who=4711", "after=x", "who=all&of=x", "who=-1"])
def test_a_malformed_page_of_the_list_is_404(staff, query):
    assert staff.get(f"/following/?{query}").status_code == 404
    assert staff.get("/following/follows.csv?who=sources").status_code == 404
