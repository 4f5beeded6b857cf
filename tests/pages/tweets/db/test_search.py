"""What the search of the tweets page finds, in which order, and what it says when it ends early."""

from datetime import UTC, datetime

import pytest
from django.db.models import F

from tests.factories import TweetFactory
from tests.pages.conftest import watched
from tests.pages.tweets.db.test_tweets import row_ids
from trackers.jobs.models import MAX_STRIKES
from trackers.tweets.finding import finder, texts
from trackers.tweets.models import Author, Tweet
from trackers.updater.models import TweetUpdate


def search_ids(staff, words, **given):
    return row_ids(staff.get("/tweets/", {"q": words, **given}))


def text_of(staff, words, **given):
    return staff.get("/tweets/", {"q": words, **given}).content.decode()


def test_a_name_is_found_in_any_case_and_by_its_beginning(staff):
    ada = watched(1, author_id=8, username="Ada_L")
    adam = watched(2, author_id=9, username="adam")

    assert search_ids(staff, "@ADA_l") == [ada.id]
    assert search_ids(staff, "@ada") == [adam.id, ada.id]
    assert search_ids(staff, "ADA") == [adam.id, ada.id]
    assert search_ids(staff, "@nobody") == []


def test_a_whole_name_does_not_match_longer_names(staff):
    ann = watched(1, author_id=8, username="ann")
    watched(2, author_id=9, username="anna")

    assert search_ids(staff, "@Ann") == [ann.id]


def test_an_author_is_found_by_a_word_of_the_name(staff):
    tweet = watched(1, author_id=8, username="ghopper")
    watched(2)
    Author.objects.filter(pk=8).update(name="Grace Brewster Murray")

    assert search_ids(staff, "murray grace") == [tweet.id]
    assert search_ids(staff, "brews") == [tweet.id]


def test_matches_in_texts_and_authors_are_merged_newest_first(staff):
    ids = [
        watched(low, text="of grace" if low % 3 else "of none", author_id=7 + low % 2,
                username=("grace", "ada")[low % 2]).id
        for low in range(150)
    ]  # fmt: skip
    expected = [id for low, id in enumerate(ids) if low % 3 or not low % 2][::-1]

    first = search_ids(staff, "grace")
    second = search_ids(staff, "grace", before=first[-1])
    third = search_ids(staff, "grace", before=second[-1])

    assert first + second + third == expected
    assert search_ids(staff, "grace", after=third[0]) == second
    assert search_ids(staff, "grace", after=second[0]) == first


def test_of_many_matching_authors_the_first_are_used_and_the_page_says_so(staff):
    for low in range(25):
        watched(low, author_id=low + 1, username=f"bob{low:02}", text="hello")

    assert len(search_ids(staff, "@bob")) == 20
    assert "More than 20 names start like this" in text_of(staff, "@bob")
    assert search_ids(staff, "bob") == []
    assert "Enter @name" in text_of(staff, "bob")


def test_every_state_filter_has_its_tweets_only(staff):
    now = datetime.now(UTC)
    ids = {name: watched(low).id for low, name in enumerate(("fresh", "missing", "gone"))}
    ids["paused"] = TweetFactory(paused=True).id
    ids["resting"] = TweetFactory(measured=True).id
    ids["isolated"] = watched(9).id
    Tweet.objects.filter(pk=ids["missing"]).update(missing_since=now, missing_reason="protected")
    ids["not_found"] = watched(11, missing_since=now, missing_reason="not_found").id
    ids["no_money"] = watched(12).id
    TweetUpdate.objects.filter(pk=ids["no_money"]).update(for_money_until=F("due_at"))
    # One that was put off once, and moved since.
    TweetUpdate.objects.filter(pk=ids["fresh"]).update(for_money_until=now)
    Tweet.objects.filter(pk=ids["gone"]).update(missing_since=now, gone_at=now)
    TweetUpdate.objects.filter(pk=ids["isolated"]).update(strikes=MAX_STRIKES)
    ids["unreadable"] = watched(10, unreadable_since=now).id

    listed = {name: row_ids(staff.get("/tweets/", {"state": name})) for name in ids}

    assert listed == {name: [id] for name, id in ids.items()}
    for name, id in ids.items():
        badge = f'class="state-{name}"'
        assert badge in staff.get("/tweets/", {"q": str(id)}).content.decode()


def test_words_are_searched_within_a_state(staff):
    watched(1, text="night train")
    paused = watched(2, text="night bus", paused=True)
    resting = watched(3, text="night ferry")
    TweetUpdate.objects.filter(pk=resting.id).delete()

    assert search_ids(staff, "night", state="paused") == [paused.id]
    assert search_ids(staff, "night", state="resting") == [resting.id]
    assert search_ids(staff, "train", state="paused") == []


def test_resting_tweets_below_many_fresh_ones_are_found_at_once(staff):
    fresh = [watched(low).id for low in range(600)]
    resting = [TweetFactory(measured=True).id for _ in range(60)]

    page = row_ids(staff.get("/tweets/", {"state": "resting"}))

    assert page == sorted(resting, reverse=True)[:50]
    assert (
        row_ids(staff.get("/tweets/", {"state": "resting", "before": page[-1]}))
        == sorted(resting)[9::-1]
    )
    assert row_ids(staff.get("/tweets/", {"state": "resting", "after": fresh[0]})) == []


def test_a_gone_tweet_is_not_found_by_its_text(staff):
    tweet = watched(text="Regretted words", username="ada")
    Tweet.objects.filter(pk=tweet.id).update(gone_at=datetime.now(UTC))

    assert search_ids(staff, "regretted") == []
    assert search_ids(staff, "regretted", state="gone") == []
    assert search_ids(staff, "@ada") == [tweet.id]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("train", id="a word"),
        pytest.param('"night train"', id="a phrase"),
        pytest.param("train -bus", id="without another"),
    ],
)
def test_a_rare_word_is_found_however_old_it_is(staff, monkeypatch, words):
    narrow(monkeypatch)
    rare = [watched(low, text="the night train").id for low in (3, 5, 7)]
    for low in range(10, 90):
        watched(low, text="the news")

    assert search_ids(staff, words) == rare[::-1]
    assert search_ids(staff, words, before=rare[2]) == [rare[1], rare[0]]
    assert search_ids(staff, words, after=rare[0]) == [rare[2], rare[1]]


def test_a_once_frequent_word_is_found_by_searching_further_back(staff, monkeypatch):
    narrow(monkeypatch)
    monkeypatch.setattr(texts, "MAX_RARE_MATCHES", 10)
    old = [watched(low, text="the cup").id for low in range(40)]
    for low in range(100, 170):
        watched(low, text="the news")

    page = staff.get("/tweets/", {"q": "cup"})
    assert "Nothing found yet" in page.content.decode()
    seen, pages = [], 0
    while page.context["page"].older:
        page = staff.get(f"/tweets/?{page.context['page'].older}")
        seen += row_ids(page)
        pages += 1

    assert seen == old[::-1]
    assert pages < 10


def narrow(monkeypatch):
    """Steps so small that a test's few tweets are many."""
    monkeypatch.setattr(finder, "FIRST_STEPS", (5, 10))
    monkeypatch.setattr(finder, "LAST_STEPS", (15,))


@pytest.mark.parametrize("words", ["…", "@", "https://t.co/aBc", '""', "-night"])
def test_a_search_without_a_word_says_so(staff, words):
    watched(text="night")

    assert "It contains no word to search for" in text_of(staff, words)


@pytest.mark.parametrize(
    "words",
    ["& | !", "a:*", "'a' <-> 'b", "\\", '"a', 'a"b', "-", "--a", "<2>", "%%s", "{}",
     "%(ids)s", "é" * 200, "a " * 100, '"a b" -"c d" e', "\ud7ff\U0010ffff", "@%_", "日" * 200],
)  # fmt: skip
@pytest.mark.parametrize("state", ["", "gone", "resting"])
def test_no_input_is_an_error(staff, words, state):
    watched(text="a b")

    assert staff.get("/tweets/", {"q": words, "state": state}).status_code == 200
