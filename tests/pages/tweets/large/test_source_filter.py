"""`/?source=ID`: the tweets of one source, with words and states."""

import re

import pytest

from tests.pages.conftest import watched
from tests.pages.sources import now, source, words
from tests.pages.tweets.db.test_tweets import row_ids
from trackers.ingest.sources.models import SourceTweet
from trackers.listing.search import LIST_PAGE_SIZE

pytestmark = pytest.mark.django_db


def yielded(made, *tweets):
    SourceTweet.objects.bulk_create(
        SourceTweet(source=made, tweet_id=tweet.pk, seen_at=now()) for tweet in tweets
    )


def test_a_source_filter_lists_only_its_tweets_also_with_words_and_state(staff):
    made, other = source(yielded=2), source(of="other")
    moon, mars = watched(1, text="The moon"), watched(2, text="Mars", paused=True)
    theirs = watched(3, text="The moon as well")
    yielded(made, moon, mars)
    yielded(other, theirs)
    ours = f"/tweets/?source={made.pk}"

    assert row_ids(staff.get(ours)) == [mars.pk, moon.pk]
    assert row_ids(staff.get(f"{ours}&q=moon")) == [moon.pk]
    assert row_ids(staff.get(f"{ours}&q=@ada")) == [mars.pk, moon.pk]
    assert row_ids(staff.get(f"{ours}&q={theirs.pk}")) == []
    assert row_ids(staff.get(f"{ours}&state=paused")) == [mars.pk]
    assert row_ids(staff.get(f"{ours}&state=resting")) == []
    assert row_ids(staff.get(f"/tweets/?part=rows&source={made.pk}")) == [mars.pk, moon.pk]


def test_the_filtered_page_names_its_source_and_the_source_links_to_it(staff):
    made = source(yielded=1)
    yielded(made, watched(1))

    page = staff.get(f"/tweets/?source={made.pk}").content.decode()

    assert "Tweets that came from @nasa&#x27;s posts Show all tweets" in words(page)
    assert f'<option value="{made.pk}" selected>' in page
    assert f'href="/tweets/?source={made.pk}"' in staff.get(f"/sources/{made.pk}/").content.decode()
    assert "There is no source 99 any more" in words(
        staff.get("/tweets/?source=99").content.decode()
    )


def test_many_imports_hide_no_source_in_the_filter(staff, monkeypatch):
    monkeypatch.setattr("trackers.ingest.sources.models.MAX_OFFERED", 3)
    made, first, *_ = source(), *(source(kind="import", of=f"{n}.txt") for n in range(4))

    def choices(query):
        html = staff.get(f"/tweets/?{query}").content.decode()
        [select] = re.findall(r'<select name="source">(.*?)</select>', html, re.DOTALL)
        return re.findall(r'value="(\d+)"', select)

    assert (len(choices("")), choices("")[0]) == (3, str(made.pk))
    assert choices(f"source={first.pk}")[3:] == [str(first.pk)]


def test_pages_of_a_source_filter_continue_by_ids(staff):
    made = source(yielded=60)
    tweets = [watched(n) for n in range(LIST_PAGE_SIZE + 5)]
    yielded(made, *tweets)

    first = staff.get(f"/tweets/?source={made.pk}")
    older = first.context["page"].older

    assert len(row_ids(first)) == LIST_PAGE_SIZE
    assert f"source={made.pk}" in older
    assert row_ids(staff.get(f"/tweets/?{older}")) == [tweet.pk for tweet in reversed(tweets[:5])]


@pytest.mark.parametrize("given", ["x", "-1", "0", "9" * 30])
def test_an_unknown_source_filter_is_ignored(staff, given):
    tweet = watched(1)

    assert row_ids(staff.get(f"/tweets/?source={given}")) == [tweet.pk]
