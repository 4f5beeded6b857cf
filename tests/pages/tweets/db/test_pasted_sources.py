"""Names and links of sources in the box for tweets: they are watched once a person says so."""

import html
import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.api.conftest import Program
from trackers.history import by_command
from trackers.ingest.sources.by_form import add_source
from trackers.ingest.sources.models import Source
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db

TWEET = 1_650_000_000_000_000_000
PASTED = f"""@nasa
https://x.com/nasa/status/{TWEET}
https://x.com/i/lists/1234
#artemis
@nasa
not a tweet
"""


def fields_of(page):
    """What the page's form would send."""
    inputs = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return {name: html.unescape(value) for name, value in inputs}


def sources():
    return sorted(Source.objects.values_list("kind", "of"))


def test_names_and_links_are_asked_about_and_tweets_are_tracked_at_once(admin_client):
    page = admin_client.post("/tweets/track", {"lines": PASTED}).content.decode()

    assert [tweet.pk for tweet in Tweet.objects.all()] == [TWEET]
    assert "1 tweet is now tracked." in page
    assert "“not a tweet”, is neither the id nor the address of a tweet" in page
    assert "No tweets, but sources: @nasa&#x27;s posts, list 1234, search: #artemis." in page
    assert "polls a day" in page
    assert not sources()

    fields = fields_of(page)
    answer = admin_client.post("/tweets/track", fields, follow=True)

    assert sources() == [("account", "nasa"), ("list", "1234"), ("search", "#artemis")]
    assert "Now watching" in answer.content.decode()
    assert answer.redirect_chain[-1][0] == "/sources/"
    assert Tweet.objects.count() == 1


def test_sources_that_exist_are_said_to_and_others_are_added(admin_client):
    add_source("account", "nasa", {}, by_command())

    page = admin_client.post("/tweets/track", {"lines": "@NASA\n#artemis"}).content.decode()
    answer = admin_client.post("/tweets/track", fields_of(page), follow=True).content.decode()

    assert "@NASA: It already exists: @nasa&#x27;s posts." in answer
    assert sources() == [("account", "nasa"), ("search", "#artemis")]


def test_without_the_permission_to_add_sources_the_lines_are_refused(client):
    person = User.objects.create_user("tracker", is_staff=True)
    names = ("view_tweet", "add_tweet")
    person.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(person)

    page = client.post("/tweets/track", {"lines": "@nasa"}, follow=True).content.decode()
    forged = client.post("/tweets/track", {"lines": "@nasa", "sources": "yes", "sure": "yes"})

    assert "names an account, which is added as a source" in page
    assert forged.status_code == 403
    assert not sources()


def test_the_api_says_what_a_name_is_and_makes_the_source_that_a_link_means():
    program = Program(Client(), User.objects.create_superuser("olga"))

    answer = program.post("tweets", {"tweets": ["@nasa", "https://x.com/hashtag/artemis"]})
    assert "names an account" in str(answer)
    assert "names a search" in str(answer)

    link = "https://x.com/hashtag/artemis"
    made = program.post("sources", {"kind": "account", "of": link})
    assert (made["kind"], made["of"]) == ("search", "#artemis")
