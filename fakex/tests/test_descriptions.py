"""What posts say: long texts, media, where they are withheld; and the versions of edited ones."""

import pytest

from fakex.tests.conftest import wait_until

LONG = "all that was said " * 40
WITHHELD = {"copyright": False, "country_codes": ["DE", "FR"], "scope": "tweet"}


def edit(x, tweet_id, text="second thoughts"):
    return x.fake("POST", f"edits/{tweet_id}", {"text": text})["id"]


@pytest.mark.parametrize(
    ("vocabulary", "note"), [("tweet", "note_tweet"), ("post", "note_post")], ids=["tweet", "post"]
)
def test_a_long_text_is_returned_whole_on_request(x, vocabulary, note):
    [tweet_id] = x.live_ids(1)
    x.fake("PUT", f"contents/{tweet_id}", {"text": LONG})

    [asked] = x.tweets([tweet_id], **{f"{vocabulary}.fields": note}).json()["data"]
    [unasked] = x.tweets([tweet_id]).json()["data"]

    assert asked[note] == {"text": LONG}
    assert len(asked["text"]) == 280
    assert LONG.startswith(asked["text"][:-1])
    assert set(unasked) == {"id", "text", "edit_history_tweet_ids"}


def test_media_and_withheld_countries_are_returned_on_request(x):
    tweet_id, other = x.live_ids(2)
    x.fake("PUT", f"contents/{tweet_id}", {"media_keys": ["3_77"], "withheld": WITHHELD})

    fields = {"tweet.fields": "withheld,attachments,note_tweet"}
    told, plain = x.tweets([tweet_id, other], **fields).json()["data"]

    assert (told["withheld"], told["attachments"]) == (WITHHELD, {"media_keys": ["3_77"]})
    assert set(plain) == {"id", "text", "edit_history_tweet_ids"}


LINKED = {"text": "see https://example.org/a of #moon and $TWTR", "media_keys": ["3_77", "7_78"]}


def test_entities_stand_in_the_text_and_come_on_request(x):
    [tweet_id] = x.live_ids(1)
    x.fake("PUT", f"contents/{tweet_id}", LINKED)

    [asked] = x.tweets([tweet_id], **{"tweet.fields": "entities"}).json()["data"]
    [unasked] = x.tweets([tweet_id]).json()["data"]

    text, entities = asked["text"], asked["entities"]
    assert {
        kind: [text[one["start"] : one["end"]] for one in entities[kind]] for kind in entities
    } == {
        "hashtags": ["#moon"],
        "cashtags": ["$TWTR"],
        "urls": [one["url"] for one in entities["urls"]],
    }
    assert entities["urls"][0]["expanded_url"] == "https://example.org/a"
    assert [one.get("media_key") for one in entities["urls"]] == [None, "3_77", "7_78"]
    assert all(one["url"].startswith("https://t.co/") for one in entities["urls"])
    assert "entities" not in unasked


def test_a_long_post_has_entities_of_its_own(x):
    [tweet_id] = x.live_ids(1)
    x.fake("PUT", f"contents/{tweet_id}", {"text": f"#moon {LONG} #sun"})

    [asked] = x.tweets([tweet_id], **{"tweet.fields": "entities,note_tweet"}).json()["data"]

    assert [one["tag"] for one in asked["entities"]["hashtags"]] == ["moon"]
    assert [one["tag"] for one in asked["note_tweet"]["entities"]["hashtags"]] == ["moon", "sun"]


@pytest.mark.parametrize("shows", ["newest", "own"])
def test_the_id_of_an_old_version_shows_the_configured_version(x, shows):
    [first] = x.live_ids(1)
    second = edit(x, first)
    x.fake("PUT", "world", {"old_versions": shows})

    [tweet] = x.tweets([first]).json()["data"]
    both = x.tweets([first, second]).json()["data"]

    assert tweet["edit_history_tweet_ids"] == [first, second]
    assert tweet["id"] == (second if shows == "newest" else first)
    assert (tweet["text"] == "second thoughts") == (shows == "newest")
    assert [one["id"] for one in both] == ([second] if shows == "newest" else [first, second])


def test_each_version_has_its_own_counts_and_is_billed_by_its_id(x):
    [first] = x.live_ids(1)
    x.fake("PUT", f"tweets/{first}", {"metrics": {"likes": 777}})
    x.tweets([first])
    x.fake("PUT", "world", {"old_versions": "own"})
    second = edit(x, first)

    fields = {"tweet.fields": "public_metrics,author_id"}
    old, new = x.tweets([first, second], **fields).json()["data"]

    assert old["author_id"] == new["author_id"]
    assert old["public_metrics"]["like_count"] == 777
    assert new["public_metrics"]["like_count"] < 777
    assert x.fake("GET", "log")["entries"][-1]["billed_posts"] == 1


@pytest.mark.parametrize("deleted", [0, 1])
def test_deleting_one_version_deletes_all(x, deleted):
    [first] = x.live_ids(1)
    versions = [first, edit(x, first)]
    x.fake("PUT", f"tweets/{versions[deleted]}", {"state": "deleted"})

    reply = x.tweets(versions).json()

    assert "data" not in reply
    assert [problem["value"] for problem in reply["errors"]] == versions


def test_an_edited_post_is_listed_only_by_its_newest_version(x):
    flow = x.release(rate=1000, count=1)
    wait_until(lambda: len(x.visible()) == 1)
    [post] = x.visible()
    second = edit(x, post["id"], "a #second thought")

    page = x.get(f"/2/users/{post['author_id']}/tweets", max_results="5").json()

    assert flow["count"] == 1
    listed = [one["id"] for one in page["data"]]
    assert listed[0] == second
    assert post["id"] not in listed


def test_a_post_can_be_edited_five_times(x):
    [first] = x.live_ids(1)
    for number in range(5):
        edit(x, first, f"version {number}")

    with pytest.raises(Exception, match="400"):
        edit(x, first)


def test_one_count_of_a_tweet_can_be_null(x):
    first, second = x.live_ids(2)
    x.fake("PUT", "faults", [{"kind": "null_count", "match": {"ids": [first]}}])

    spoilt, good = x.tweets([first, second], **{"tweet.fields": "public_metrics"}).json()["data"]

    assert spoilt["public_metrics"].pop("like_count") is None
    assert good["public_metrics"].keys() - spoilt["public_metrics"].keys() == {"like_count"}
    assert all(isinstance(count, int) for count in spoilt["public_metrics"].values())
