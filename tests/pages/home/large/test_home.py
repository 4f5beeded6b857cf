import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.pages.conftest import flat
from tests.pages.home.homes import (
    asked,
    bring,
    followed,
    further,
    home_of,
    row_ids,
    source,
    team,
    tweet,
)  # fmt: skip
from tests.pages.sources import words
from tests.timelines.homes.world import configure
from trackers.ingest.sources.models import SourceTweet
from trackers.timelines import homes
from trackers.timelines.models import Follower
from trackers.tweets.models import Author, Tweet, TweetText

pytestmark = pytest.mark.django_db


def ids(*some):
    return ",".join(map(str, some))


def test_a_home_shows_followed_tweets_only(staff):
    followed(tweet(1), tweet(3))
    followed(tweet(2), tweet(3))
    bring(source(), tweet(4))

    assert row_ids(staff.get("/home/")) == [tweet(3), tweet(2), tweet(1)]


def test_each_row_equals_that_of_the_page_of_tweets(staff):
    followed(tweet(1))

    row = flat(staff.get("/home/"))

    assert (
        f'<a class="text" dir="auto" id="tweet-{tweet(1)}" href="/tweets/{tweet(1)}/">words</a>'
        in row
    )
    assert 'data-metric="likes"' in row


def test_an_embedded_text_is_shown_and_marked_when_it_has_changed(staff):
    configure(strategy="cache", embed=["text", "author"])
    Author.objects.create(pk=7, name="Ada")
    followed(tweet(1), tweet(2), tweet(3))
    homes.rebuild(home_of())
    TweetText.objects.filter(pk=tweet(1)).update(text="edited")
    TweetText.objects.filter(pk=tweet(2)).delete()
    clock = f"ids={ids(tweet(1), tweet(2), tweet(3))}&clock="

    for address in ("/home/", f"/home/?part=now&{clock}"):
        rows = re.findall(r"<tr id=.*?</tr>", flat(staff.get(address)))
        one, _, another = sorted(rows)
        assert ">words</a>" in one
        assert "as first seen" in one
        assert "The text is shown as first seen." in one
        assert "as first seen" not in another

    Author.objects.update(name="Countess")
    rows = staff.get("/home/").content.decode()
    assert rows.count("<strong>Ada</strong>") == 2
    assert "The text and name are shown as first seen." in rows
    assert rows.count("The name is shown as first seen.") == 1


def test_a_home_without_followed_sources_says_where_to_begin(staff):
    page = staff.get("/home/")

    assert "You do not follow anything yet" in words(page.content.decode())
    assert "/following/?who=sources" in page.content.decode()


def test_a_home_without_tweets_says_so(staff):
    followed()

    assert "No tweets yet" in staff.get("/home/").content.decode()


def test_older_rows_follow_without_gap_or_repetition(staff):
    made = followed(*(tweet(1, n) for n in range(130)))
    page = staff.get("/home/")
    seen = row_ids(page)

    while address := further(page):
        bring(made, tweet(2, len(seen)))
        Tweet.objects.filter(pk=tweet(1, 1)).update(gone_at=timezone.now())
        page = staff.get(address)
        seen += row_ids(page)

    assert seen == [tweet(1, n) for n in range(129, -1, -1) if n != 1]


def test_without_javascript_links_page_to_the_end_and_back(staff):
    followed(*(tweet(1, n) for n in range(70)))
    first = staff.get("/home/")
    older = staff.get(f"/home/?before={row_ids(first)[-1]}")

    back = staff.get(f"/home/?after={row_ids(older)[0]}")

    assert f'href="/home/?before={row_ids(first)[-1]}"' in first.content.decode()
    assert f'href="/home/?after={row_ids(older)[0]}"' in older.content.decode()
    assert len(row_ids(older)) == 20
    assert row_ids(back) == row_ids(first)


@pytest.mark.parametrize(
    "query",
    [
        "before=x", "before=-1", "before=99999999999999999999", "after=9223372036854775808",
        "before=5&after=4", "before=٣",
    ],
)  # fmt: skip
@pytest.mark.parametrize("page", ["/home/", "/home/?part=rows"])
def test_a_malformed_anchor_is_404(staff, page, query):
    followed(tweet(1))

    answer = staff.get(f"{page}?{query}")

    assert answer.status_code == 404
    assert "tweet" in answer.content.decode().partition("<main")[2]


@pytest.mark.parametrize("clock", ["x", "1/2:1:", "'; --", "9" * 30])
def test_a_malformed_clock_is_404(staff, clock):
    followed(tweet(1))

    for part in ("now", "new"):
        given = {"part": part, "clock": clock, "top": "1"}
        assert staff.get("/home/", given).status_code == 404


def test_a_request_for_more_rows_than_a_screen_is_404(staff):
    assert staff.get("/home/", {"part": "now", "ids": ids(*range(1, 102))}).status_code == 404


def test_visible_rows_are_refreshed_and_deleted_ones_shown_as_gone(staff):
    made = followed(tweet(1), tweet(2), tweet(3))
    Tweet.objects.filter(pk=tweet(1)).update(likes=4711)
    Tweet.objects.filter(pk=tweet(2)).update(gone_at=timezone.now())
    bring(source(), tweet(9))

    now = staff.get("/home/", {"part": "now", "ids": ids(tweet(1), tweet(2), tweet(9))})

    assert row_ids(now) == [tweet(1)]
    assert "4,711" in now.content.decode()
    assert f'data-gone="{tweet(2)} {tweet(9)}"' in now.content.decode()
    assert made


def test_late_tweets_are_marked(staff):
    made = followed(tweet(1), tweet(2))
    SourceTweet.objects.filter(source_id=made, tweet_id=tweet(1)).update(late=True)

    page = staff.get("/home/").content.decode()

    assert page.count("badge late") == 1
    assert page.index("badge late") > page.index(f'data-id="{tweet(1)}"')


def test_a_home_being_rebuilt_says_so_and_shows_the_same_tweets(staff):
    followed(tweet(1))
    configure(strategy="sized")

    page = staff.get("/home/")
    homes.rebuild(home_of())
    later = staff.get("/home/")

    assert "is being rebuilt" in page.content.decode()
    assert "being rebuilt" not in later.content.decode()
    assert row_ids(page) == row_ids(later) == [tweet(1)]


def test_fifty_rows_take_as_many_queries_as_one(staff):
    made = followed(tweet(1))
    staff.get("/home/")
    few = queries(staff, ids(tweet(1)))
    more = [tweet(2, n) for n in range(49)]
    bring(made, *more)

    assert queries(staff, ids(*more)) == few
    assert max(few) <= 18


def queries(staff, sight):
    told = asked(staff.get("/home/"), ids=sight)
    counted = []
    for address in ("/home/", f"/home/?part=rows&before={tweet(9)}", f"/home/?part=now&{told}"):
        with CaptureQueriesContext(connection) as made:
            staff.get(address)
        counted.append(len(made))
    return counted


def test_members_see_the_home_of_their_team(staff, client):
    crew = team("Crew", "ada")
    made = followed(tweet(1), follower=Follower.objects.create(team=crew).pk)

    assert row_ids(staff.get(f"/home/team/{crew.pk}/")) == [tweet(1)]
    assert row_ids(staff.get("/home/")) == []
    assert f'href="/home/team/{crew.pk}/"' in staff.get("/home/").content.decode()
    assert made

    client.force_login(User.objects.create_superuser("eve", "", "x"))
    for page in ("", "?part=rows", "?part=now", "?part=new"):
        assert client.get(f"/home/team/{crew.pk}/{page}").status_code == 403


@pytest.mark.parametrize("id", [1, 2**31, 2**63, 10**30])
def test_an_unknown_team_is_404(staff, id):
    assert staff.get(f"/home/team/{id}/").status_code == 404


def test_a_visitor_who_is_not_logged_in_is_led_to_the_login(client):
    assert client.get("/home/").url == "/login/?next=/home/"
