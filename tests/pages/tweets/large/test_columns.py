import re

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.pages.conftest import flat
from tests.pages.home.homes import bring, followed, further, home_of, row_ids, source, team, tweet
from tests.pages.sources import words
from trackers.dashboards.columns import MAX_COLUMNS
from trackers.dashboards.models import Column
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.timelines.models import Follower
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db


def add(staff, shows):
    return staff.post("/columns/add", {"shows": shows}, follow=True)


def names(page):
    return re.findall(r'<h2 id="column-\d+"><a [^>]*>(?:search: )?([^<]+)</a>', flat(page))


def only():
    return Column.objects.get().pk


def test_a_page_without_columns_says_how_to_add_one(staff):
    assert "No columns yet" in staff.get("/columns/").content.decode()


def test_homes_and_sources_stand_side_by_side(staff):
    mine, other = followed(tweet(1), tweet(3)), source("kittens")
    bring(other, tweet(2), tweet(4))
    crew = team("Crew", "ada")
    followed(tweet(5), follower=Follower.objects.create(team=crew).pk)

    for shows in ("home:", f"source:{other}", f"home:{crew.pk}"):
        page = add(staff, shows)

    assert names(page) == ["Home", "kittens", "Crew"]
    assert row_ids(page) == [tweet(3), tweet(1), tweet(4), tweet(2), tweet(5)]
    assert mine


def test_the_same_tweet_in_two_columns_has_two_ids_on_the_page(staff):
    made = followed(tweet(1))
    add(staff, "home:")

    page = add(staff, f"source:{made}").content.decode()

    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_each_person_has_columns_of_their_own(staff, client):
    add(staff, "home:")
    mine = only()

    client.force_login(User.objects.create_superuser("eve", "", "x"))

    assert names(client.get("/columns/")) == []
    for page in ("", "?part=rows", "?part=now", "?part=new"):
        assert client.get(f"/columns/{mine}/{page}").status_code == 404
    assert client.post(f"/columns/{mine}/remove").status_code == 404
    assert only() == mine


def test_a_column_is_moved_and_removed(staff):
    for of in ("a", "b", "c"):
        add(staff, f"source:{source(of)}")
    first, _, last = Column.objects.values_list("pk", flat=True)

    staff.post(f"/columns/{last}/left")
    staff.post(f"/columns/{first}/right")
    assert names(staff.get("/columns/")) == ["c", "a", "b"]

    # There is nothing beyond the ends.
    staff.post(f"/columns/{last}/left")
    assert names(staff.get("/columns/")) == ["c", "a", "b"]
    staff.post(f"/columns/{first}/remove")
    assert names(staff.get("/columns/")) == ["c", "b"]


def test_the_same_column_cannot_be_added_twice(staff):
    add(staff, "home:")

    assert "already" in words(add(staff, "home:").content.decode())
    assert Column.objects.count() == 1


def test_the_number_of_columns_is_limited(staff):
    for _ in range(MAX_COLUMNS + 1):
        page = add(staff, f"source:{source()}")

    assert Column.objects.count() == MAX_COLUMNS
    assert "Remove one first" in words(page.content.decode())


@pytest.mark.parametrize(
    "shows",
    ["", "source:", "source:x", "source:4711", "cat:1", "home:x", "home:4711", f"source:{2**63}"],
)
def test_an_unknown_home_or_source_cannot_be_a_column(staff, shows):
    assert add(staff, shows).status_code == 404
    assert not Column.objects.exists()


def test_a_former_member_no_longer_sees_the_column_of_the_team(staff):
    crew = team("Crew", "ada")
    add(staff, f"home:{crew.pk}")

    User.objects.get(username="ada").groups.clear()

    assert names(staff.get("/columns/")) == []
    assert staff.get(f"/columns/{only()}/?part=rows").status_code == 403
    assert add(staff, f"home:{crew.pk}").status_code == 403


@pytest.mark.parametrize("kind", ["home", "source"])
def test_a_column_is_scrolled_without_gap_or_repetition(staff, kind):
    made = followed(*(tweet(1, n) for n in range(70)))
    page = add(staff, "home:" if kind == "home" else f"source:{made}")
    seen = row_ids(page)

    while address := further(page):
        bring(made, tweet(2, len(seen)))
        Tweet.objects.filter(pk=tweet(1, 1)).update(gone_at=timezone.now())
        page = staff.get(address)
        seen += row_ids(page)

    assert seen == [tweet(1, n) for n in range(69, -1, -1) if n != 1]


@pytest.mark.parametrize("kind", ["home", "source"])
def test_a_single_column_pages_to_its_end_and_back_without_javascript(staff, kind):
    made = followed(*(tweet(1, n) for n in range(70)))
    add(staff, "home:" if kind == "home" else f"source:{made}")
    address = f"/columns/{only()}/"
    first = staff.get(address)

    older = staff.get(f"{address}?before={row_ids(first)[-1]}")
    back = staff.get(f"{address}?after={row_ids(older)[0]}")

    assert len(row_ids(older)) == 20
    assert row_ids(back) == row_ids(first)
    assert staff.get(f"{address}?before=x").status_code == 404
    assert staff.get(f"{address}?part=new&clock=x").status_code == 404


def test_a_source_column_shows_new_late_and_gone_tweets(staff):
    made = source()
    bring(made, tweet(5), tweet(6))
    page = add(staff, f"source:{made}")
    clock = re.search(r'data-clock="([^"]+)"', page.content.decode())[1]
    bring(made, tweet(7), tweet(2), tweet(3))
    SourceTweet.objects.filter(tweet_id=tweet(2)).update(late=True)
    Tweet.objects.filter(pk=tweet(5)).update(gone_at=timezone.now())
    given = {"clock": clock, "top": tweet(6), "ids": f"{tweet(6)},{tweet(5)}"}

    now = staff.get(f"/columns/{only()}/", {"part": "now", **given})
    new = staff.get(f"/columns/{only()}/", {"part": "new", **given})

    assert words(now.content.decode()).startswith("2 new , 1 of them late")
    assert f'data-gone="{tweet(5)}"' in now.content.decode()
    assert row_ids(now) == [tweet(6)]
    assert row_ids(new) == [tweet(7), tweet(2)]
    assert home_of()


def test_the_column_of_a_removed_source_is_removed(staff):
    made = followed(tweet(1))
    add(staff, f"source:{made}")

    staff.post(f"/sources/{made}/remove")

    assert not Source.objects.exists()
    assert names(staff.get("/columns/")) == []
