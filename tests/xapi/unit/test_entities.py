"""Tags, names and links: as X's documents 2.166 and 2.167 have them, in v1.1, and odd."""

import pytest

from trackers.xapi.parse.entities import read_entities, read_v1_entities
from trackers.xapi.results import Entities, Link

PAGE = Link("https://t.co/aaa", "example.org/a…", "https://example.org/about", of_media=False)
PHOTO = Link("https://t.co/bbb", "pic.x.com/bbb", "https://x.com/i/status/1/photo/1", of_media=True)
V2 = {
    "hashtags": [{"start": 0, "end": 5, "tag": "Moon"}, {"start": 9, "end": 14, "tag": "mOOn"}],
    "cashtags": [{"start": 0, "end": 5, "tag": "TWTR"}],
    "mentions": [{"start": 0, "end": 5, "username": "Some_One", "id": "7"}],
    "urls": [
        {"start": 0, "end": 9, "url": PAGE.url, "expanded_url": "https://bit.ly/x",
         "unwound_url": PAGE.address, "display_url": PAGE.display, "status": 200},
        *[{"start": 9, "end": 18, "url": PHOTO.url, "expanded_url": PHOTO.address,
           "display_url": PHOTO.display, "media_key": key} for key in ("3_1", "3_2")],
    ],
}  # fmt: skip
WHOLE = Entities(("moon",), ("twtr",), ("some_one",), (PAGE, PHOTO))


def test_each_thing_is_read_once_and_names_in_lower_case():
    assert read_entities({"entities": V2}) == WHOLE


@pytest.mark.parametrize("note", ["note_tweet", "note_post"])
def test_of_a_long_post_all_are_read_and_media_come_from_the_cut_text(note):
    long = {**V2, "hashtags": [{"start": 300, "end": 305, "tag": "late"}], "urls": V2["urls"][:1]}
    cut = {"hashtags": V2["hashtags"], "urls": V2["urls"][1:]}

    found = read_entities({note: {"text": "words", "entities": long}, "entities": cut})

    assert found.hashtags == ("late", "moon")
    assert set(found.links) == {PAGE, PHOTO}


def test_version_one_has_other_names_and_media_of_their_own():
    status = {
        "entities": {
            "hashtags": [{"text": "Moon", "indices": [0, 5]}],
            "symbols": [{"text": "TWTR", "indices": [0, 5]}],
            "user_mentions": [{"screen_name": "Some_One", "id_str": "7"}],
            "urls": [{"url": PAGE.url, "display_url": PAGE.display, "expanded_url": "https://x.org",
                      "unwound": {"url": PAGE.address}}],
            "media": [{"url": PHOTO.url, "display_url": PHOTO.display, "type": "photo",
                       "expanded_url": PHOTO.address}],
        }
    }  # fmt: skip
    assert read_v1_entities(status) == WHOLE


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"entities": None},
        {"entities": 7},
        {"entities": {}},
        {"entities": {"hashtags": None, "urls": None, "mentions": {}}},
        {"entities": {"hashtags": [None, 7, {}, {"tag": 7}, {"tag": None}, {"tag": ""}]}},
        {"entities": {"urls": [{"url": None}, {"url": "javascript:alert(1)"}, {"url": 7}]}},
        {"entities": {"hashtags": [{"tag": "x" * 300}]}, "note_tweet": {"entities": []}},
    ],
)
def test_odd_values_are_left_out(item):
    assert read_entities(item) is None
    assert read_v1_entities(item) is None


def test_characters_that_postgresql_cannot_hold_are_replaced():
    found = read_entities({"entities": {"hashtags": [{"tag": "a\0b"}, {"tag": "\ud83e"}]}})

    assert found.hashtags == ("a\ufffdb", "\ufffd")
