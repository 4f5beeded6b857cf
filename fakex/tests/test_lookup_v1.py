from datetime import datetime

import pytest

PATH = "/1.1/statuses/lookup.json"


def test_a_status_has_the_counts_and_date_of_version_one(x):
    [tweet_id] = x.live_ids(1)

    reply = x.get(PATH, id=tweet_id)

    [status] = reply.json()
    answer = x.entry()["answers"][tweet_id]
    assert (status["id"], status["id_str"]) == (int(tweet_id), tweet_id)
    assert status["retweet_count"] == answer["retweets"]
    assert status["favorite_count"] == answer["likes"]
    born_ms = (int(tweet_id) >> 22) + 1288834974657
    created = datetime.strptime(status["created_at"], "%a %b %d %H:%M:%S %z %Y")
    assert created.timestamp() == born_ms // 1000
    assert "text" in status
    assert "screen_name" in status["user"]
    assert reply.content.isascii()


def test_missing_and_hidden_tweets_are_left_out(x):
    shown, hidden = x.live_ids(2)
    x.fake("PUT", f"tweets/{hidden}", {"state": "protected"})

    assert [s["id_str"] for s in x.get(PATH, id=f"{shown},{hidden},{2**62}").json()] == [shown]
    assert x.get(PATH, id=hidden).json() == []


def test_a_map_names_missing_tweets_as_null(x):
    visible, hidden = x.live_ids(2)
    x.fake("PUT", f"tweets/{hidden}", {"state": "deleted"})

    body = x.get(PATH, id=f"{visible},{hidden}", map="true").json()

    assert set(body) == {"id"}
    assert body["id"][hidden] is None
    assert body["id"][visible]["id_str"] == visible


def test_trimmed_users_extended_text_and_no_entities_on_request(x):
    [tweet_id] = x.live_ids(1)

    params = {"trim_user": "true", "tweet_mode": "extended", "include_entities": "false"}
    [status] = x.get(PATH, id=tweet_id, **params).json()

    assert set(status["user"]) == {"id", "id_str"}
    assert "full_text" in status
    assert not {"text", "entities"} & set(status)


@pytest.mark.parametrize(
    ("setup", "status", "code"),
    [
        pytest.param(("limits", {"GET /1.1/statuses/lookup": {"app": 0}}), 429, 88, id="window"),
        pytest.param(("credentials", {"strict": True}), 401, 89, id="unknown token"),
        pytest.param(("faults", [{"kind": "503_json"}]), 503, 130, id="over capacity"),
    ],
)
def test_errors_have_the_codes_of_version_one(x, setup, status, code):
    x.fake("PUT", *setup)

    reply = x.get(PATH, id="1", token="v1")

    assert reply.status_code == status
    assert reply.json()["errors"][0]["code"] == code
