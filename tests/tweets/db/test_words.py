"""What a search for words finds, by the real parser of Postgres."""

import pytest

from trackers.tweets.finding.words import TEXT_WORDS, parse_search
from tweetwatch.database import cursor

MATCHES = f"""
    SELECT {TEXT_WORDS.format("%(text)s::text")} @@ %(exact)s::tsquery,
           {TEXT_WORDS.format("%(text)s::text")} @@ %(loose)s::tsquery,
           %(text)s::text ILIKE ALL (%(patterns)s::text[])
"""


def finds(typed, text):
    search = parse_search(typed)
    given = {"exact": search.exact, "loose": search.loose, "patterns": list(search.patterns)}
    with cursor() as db:
        exact, loose, alike = db.execute(MATCHES, given | {"text": text}).fetchone()
    # What is looked at first leaves out nothing that matches.
    assert not exact or (loose and alike)
    return exact


TWEET = (
    "The night train's late, and/or gone.Nobody told @ada_l #Travel\nhttps://t.co/XyZ42 100% 3.5"
)


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param("night", id="a word"),
        pytest.param("NIGHT Train", id="words in any case and order"),
        pytest.param("late night", id="words that are not neighbours"),
        pytest.param("n", id="one letter"),
        pytest.param("night tra", id="the beginning of the last word"),
        pytest.param("trav", id="the beginning of a hashtag"),
        pytest.param("#travel", id="a hashtag"),
        pytest.param("@ada_l late", id="a mention"),
        pytest.param("or", id="behind a stroke"),
        pytest.param("nobody", id="behind a full stop without a blank"),
        pytest.param("train's", id="an apostrophe"),
        pytest.param('"night train"', id="a phrase"),
        pytest.param('"night train', id="a phrase that is being typed"),
        pytest.param("night -day", id="without another word"),
        pytest.param("100%", id="a percent sign"),
        pytest.param("3.5", id="a number"),
        pytest.param("night https://t.co/aBc", id="a pasted text with its link"),
        pytest.param("night & | ! ( ) : * ' \\ <-> %", id="operators are nothing"),
        pytest.param("night-train", id="a hyphen"),
    ],
)
def test_a_search_finds(typed):
    assert finds(typed, TWEET)


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param("nigh train", id="the beginning of another word than the last"),
        pytest.param("nigh ", id="a blank ends the word"),
        pytest.param("ight", id="the end of a word"),
        pytest.param('"train night"', id="a phrase in another order"),
        pytest.param('"nigh"', id="a phrase is of whole words"),
        pytest.param("night -train", id="a word to leave out"),
        pytest.param('night -"train s late"', id="a phrase to leave out"),
        pytest.param("xyz42", id="the letters of a link"),
    ],
)
def test_a_search_does_not_find(typed):
    assert not finds(typed, TWEET)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        pytest.param("タワー", "東京タワーに行った", id="Japanese, within a line without blanks"),
        pytest.param("東京タ", "東京タワーに行った", id="Japanese, while it is typed"),
        pytest.param("北京", "我在北京。很好", id="Chinese"),
        pytest.param("เที่ยว", "วันนี้ไปเที่ยวทะเล", id="Thai"),
        pytest.param("서울", "서울에서 만나요", id="Korean, by the beginning"),
        pytest.param("हिन्दी", "मैं हिन्दी बोलता हूँ", id="Hindi, whose vowels are marks"),
        pytest.param("ÉCOLE", "à l'école", id="letters with accents, in any case"),
        pytest.param("привет", "Привет, мир", id="Cyrillic"),
    ],
)
def test_other_scripts_are_found(typed, text):
    assert finds(typed, text)


@pytest.mark.parametrize(("typed", "text"), [("京東", "東京タワー"), ("東タ", "東京タワー")])
def test_characters_without_spaces_are_found_only_as_neighbours(typed, text):
    assert not finds(typed, text)


@pytest.mark.parametrize(
    "typed", ["", " ", "…", "@", "!!!", "https://t.co/aBc", '""', "-night", "🎉"]
)
def test_a_text_without_words_gives_no_query(typed):
    assert parse_search(typed) is None
