"""The search for everything that has a name, as a page; the palette shows the same."""

import html
import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.pages.conftest import watched
from tests.pages.sources import some_staff, source
from trackers import roles
from trackers.ingest.sources.models import Source
from trackers.jobs import pausing
from trackers.saved_views.models import SavedView
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import get_or_create_tag

pytestmark = pytest.mark.django_db
ONE = re.compile(
    r'<section aria-label="(?P<group>[^"]*)">|href="(?P<href>[^"]*)"><bdi>(?P<link>.*?)</bdi>|'
    r'action="(?P<action>[^"]*)">.*?<bdi>(?P<act>.*?)</bdi>',
    re.DOTALL,
)


def found(client, typed):
    """By group: what is found, and where each leads."""
    answer = client.get("/search/", {"q": typed, "part": "found"})
    assert answer.status_code == 200
    groups, group = {}, ""
    for match in ONE.finditer(answer.content.decode()):
        if match["group"]:
            group = match["group"]
            continue
        title, leads = match["link"] or match["act"], match["href"] or match["action"]
        groups.setdefault(group, {})[html.unescape(title)] = html.unescape(leads)
    return groups


def test_pages_are_found_by_their_words_and_those_of_the_same_meaning(staff):
    assert found(staff, "aler")["Pages"]["Alerts"] == "/alerts/"
    assert found(staff, "overview")["Pages"] == {"Today": "/today/"}
    assert found(staff, "WORKERS")["Pages"] == {"Workers": "/operations/?tab=workers"}
    # What begins like that comes first.
    assert next(iter(found(staff, "live")["Pages"])) == "Live changes"
    assert "Pages" not in found(staff, "nosuchpage")


def test_without_a_word_all_pages_and_acts_are_listed(staff):
    groups = found(staff, "")

    assert list(groups) == ["Pages", "Acts"]
    assert {"Today", "Tweets", "Operations", "Admin", "Help"} <= groups["Pages"].keys()
    for address in groups["Pages"].values():
        assert staff.get(address).status_code == 200, address


def test_only_permitted_pages_and_acts_are_found(client):
    some_staff(client, "view_tweet")
    User.objects.update(is_staff=False)
    source("account", "nasa")
    tweet = watched()

    everything = found(client, "")
    assert "Sources" not in everything["Pages"]
    assert "Admin" not in everything["Pages"]
    assert everything["Acts"].keys() == {"Change your password", "Log out"}
    assert "Sources" not in found(client, "nasa")
    assert "Acts on these" not in found(client, "pause nasa")
    assert found(client, str(tweet.pk)).keys() == {"Tweet", "Search"}
    assert "Tweet" not in found(client, "123456")


def test_a_tweet_is_found_by_its_id_and_its_address(staff):
    tweet = watched(author_id=7, username="ada", text="The night train runs again")
    address = f"https://x.com/ada/status/{tweet.pk}?s=20"

    for typed in (str(tweet.pk), address):
        groups = found(staff, typed)
        assert groups["Tweet"] == {"The night train runs again": f"/tweets/{tweet.pk}/"}
        assert f"Check now: tweet {tweet.pk}" in groups["Acts"]


def test_a_tweet_that_is_not_tracked_can_be(staff):
    [(title, address)] = found(staff, "https://x.com/i/status/1234567890123456789")["Tweet"].items()

    assert title == "Track tweet 1234567890123456789"
    staff.post(address, {"lines": "1234567890123456789"})
    assert Tweet.objects.filter(pk=1234567890123456789).exists()


def test_authors_are_found_by_name_and_by_the_address_of_a_profile(staff):
    Author.objects.create(pk=7, username="transport_min", name="Ministry of Transport")
    led = {"@transport_min": "/authors/7/"}

    for typed in ("@transport", "Transport", "ministry tra", "https://x.com/Transport_Min"):
        assert found(staff, typed)["Authors"] == led, typed
    assert "Pages" not in found(staff, "@transport")


def test_sources_views_tags_hashtags_and_domains_are_found(staff):
    made = source("account", "nightwatch")
    Source.objects.create(kind="search", of='"the night train"')
    SavedView.objects.create(user=User.objects.get(), name="Night shift", query="sort=likes")
    SavedView.objects.create(user=User.objects.create(username="eve"), name="Night of Eve")
    tweet = watched()
    tagging.tag_tweets(get_or_create_tag("nightlife").pk, [tweet.pk])
    TweetText.objects.filter(pk=tweet.pk).update(
        hashtags=["nighttrain", "day"], domains=["night.example.org"]
    )

    groups = found(staff, "Night")

    # What begins like that comes first.
    assert list(groups["Sources"]) == ["@nightwatch's posts", 'search: "the night train"']
    assert groups["Sources"]["@nightwatch's posts"] == f"/sources/{made.pk}/"
    assert groups["Saved views"] == {"Night shift": "/tweets/?sort=likes"}
    assert groups["Tags"] == {"nightlife": "/tweets/?tag=nightlife"}
    assert groups["Hashtags"] == {"#nighttrain": "/sets/hashtag/nighttrain/"}
    assert groups["Domains"] == {"night.example.org": "/sets/domain/night.example.org/"}
    assert found(staff, "#night").keys() == {"Tags", "Hashtags", "Search"}
    assert "Domains" in found(staff, "https://www.night.example.org/a")
    for group in groups.values():
        for address in group.values():
            assert staff.get(address).status_code == 200, address


def test_words_lead_to_the_searches_that_read_texts(staff):
    assert found(staff, "night train")["Search"] == {
        "Search all tweets for “night train”": "/tweets/?q=night+train",
        "Search the help for “night train”": "/help/?q=night+train",
    }


def test_acts_on_sources_are_done_by_their_buttons_and_what_asks_leads_to_the_question(staff):
    made = source("account", "nasa")

    acts = found(staff, "pau nasa")["Acts on these"]
    assert acts == {"Pause: @nasa's posts": f"/sources/{made.pk}/pause"}
    staff.post(acts["Pause: @nasa's posts"])
    made.refresh_from_db()
    assert made.paused_at
    assert found(staff, "resume nasa")["Acts on these"] == {
        "Resume: @nasa's posts": f"/sources/{made.pk}/resume"
    }
    asking = found(staff, "remove nasa")["Acts on these"]["Remove: @nasa's posts"]
    assert "Remove" in staff.get(asking).content.decode()
    assert Source.objects.count() == 1


def test_an_act_on_a_tweet_that_asks_before_asks_on_a_page(staff):
    tweet = watched()
    untrack = found(staff, f"untrack {tweet.pk}")["Acts on these"][f"Untrack: tweet {tweet.pk}"]

    assert "Stop tracking this tweet" in staff.post(untrack).content.decode()
    assert Tweet.objects.exists()


def test_everything_is_paused_or_resumed_whichever_it_is_not(staff):
    assert found(staff, "everything")["Acts"] == {"Pause everything": "/operations/pause/"}
    pausing.pause_all(by="ada")
    assert found(staff, "everything")["Acts"] == {"Resume everything": "/operations/resume"}


@pytest.mark.parametrize(
    "typed", ["'", "%", "\\", "@", "#", "-", "a\0b", "https://", "https://[", "☃" * 300, "1" * 40]
)
def test_odd_words_find_nothing_and_break_nothing(staff, typed):
    assert staff.get("/search/", {"q": typed}).status_code == 200


def test_a_viewer_gets_no_act_that_changes_anything(client):
    eve = User.objects.create_user("eve")
    roles.give(eve, roles.VIEWER)
    client.force_login(User.objects.get())

    assert found(client, "")["Acts"].keys() == {"Change your password", "Log out"}


def test_a_search_takes_as_many_statements_for_many_names_as_for_one(
    staff, django_assert_num_queries
):
    source("account", "night_0")
    watched(author_id=100, username="night_0")

    with CaptureQueriesContext(connection) as few:
        staff.get("/search/?part=found&q=night")
    for number in range(1, 9):
        source("account", f"night_{number}")
        watched(number, author_id=100 + number, username=f"night_{number}")

    with django_assert_num_queries(len(few)):
        answer = staff.get("/search/?part=found&q=night")
    assert answer.content.decode().count("night_") > 8
