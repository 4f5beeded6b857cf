"""A text as X displays it: what stands for its links, without those to its own media."""

import pytest

from trackers.dashboards.post_texts import linked_text, text_and_links
from trackers.tweets.displayed import displayed

PAGE = {
    "url": "https://t.co/aa", "display": "example.org/a…", "address": "https://example.org/about",
    "of_media": False,
}  # fmt: skip
PHOTO = {**PAGE, "url": "https://t.co/bb", "display": "pic.x.com/bb", "of_media": True}
LINKS = [PAGE, PHOTO]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("see https://t.co/aa now", "see example.org/a… now"),
        ("see https://t.co/aa https://t.co/bb", "see example.org/a…"),
        ("look https://t.co/bb\n", "look"),
        ("https://t.co/bb", ""),
        ("https://t.co/bb is mine", "pic.x.com/bb is mine"),
        ("https://t.co/aaa https://t.co/aa.", "https://t.co/aaa example.org/a…."),
        ("a &amp; b &lt;i&gt; &amp;lt; &quot;", "a & b <i> &lt; &quot;"),
        ("", ""),
    ],
)
def test_links_are_shown_by_what_x_displays(text, words):
    assert displayed(text, LINKS) == words


def test_without_entities_a_text_stays_as_it_is():
    assert displayed("see https://t.co/aa", None) == "see https://t.co/aa"


def test_a_link_leads_to_x_s_own_address_and_all_else_is_escaped():
    sly = {**PAGE, "display": '"><script>1</script>'}
    evil = {**PAGE, "url": "javascript:alert(1)", "display": "click"}

    html = linked_text('<b> &lt;b&gt; https://t.co/aa "javascript:alert(1)', [sly, evil])

    assert html == (
        "&lt;b&gt; &lt;b&gt; "
        '<a href="https://t.co/aa" rel="noreferrer noopener nofollow" target="_blank">'
        "&quot;&gt;&lt;script&gt;1&lt;/script&gt;</a>"
        " &quot;javascript:alert(1)"
    )


def test_a_text_that_is_a_link_itself_has_its_links_beside_it():
    words, line = text_and_links("see https://t.co/aa and https://t.co/aa https://t.co/bb", LINKS)

    assert words == "see example.org/a… and"
    assert line.count("<a href=") == 1
    assert '<a href="https://t.co/aa"' in line
    assert text_and_links("https://t.co/aa", LINKS)[0] == "example.org/a…"
    assert text_and_links("words", None) == ("words", "")
