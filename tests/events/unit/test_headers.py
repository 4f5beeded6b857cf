"""Headers of a subscriber's own: which are taken, and that they never replace ours."""

import pytest
from django.core.exceptions import ValidationError

from trackers.events.subscribers.headers import MOST_HEADERS, changed, read_line

# fmt: off
NOT_THEIRS = (
    "Host", "content-length", "Content-Type", "Content-Encoding", "User-Agent", "Accept-Encoding",
    "Expect", "Connection", "Keep-Alive", "Proxy-Authorization", "TE", "Trailer",
    "Transfer-Encoding", "Upgrade", "webhook-id", "Webhook-Signature", "Webhook-Anything",
)
# fmt: on


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("X-Room: 7", ("X-Room", "7")),
        ("Authorization:Bearer a:b  ", ("Authorization", "Bearer a:b")),
        ("x!#$%&'*+.^_`|~-9: a b", ("x!#$%&'*+.^_`|~-9", "a b")),
    ],
)
def test_a_header_line_is_parsed_as_people_write_it(line, read):
    assert read_line(line) == read
    assert changed({}, dict([read])) == dict([read])


@pytest.mark.parametrize("name", NOT_THEIRS)
def test_our_own_and_hop_by_hop_headers_are_refused(name):
    with pytest.raises(ValidationError, match="cannot be set: tweetwatch"):
        changed({}, {name: "1"})


@pytest.mark.parametrize("name", ["", "X Room", "X:Room", "X\r\nY", "Ünder", "X\0", "x" * 101])
def test_a_malformed_header_name_is_refused(name):
    with pytest.raises(ValidationError, match="header's name"):
        changed({}, {name: "1"})


@pytest.mark.parametrize(
    "value", ["", " ", "7\r\nX-Evil: 1", "7\n", "7\0", "7\x7f", "7\tb", "dé", "x" * 2001, " 7"]
)
def test_a_value_with_anything_but_printable_ascii_is_refused_and_not_repeated(value):
    with pytest.raises(ValidationError, match="value of the header X-Room") as refused:
        changed({}, {"X-Room": value})

    assert len(value) < 3 or value not in refused.value.message


def test_header_names_ignore_case():
    kept = {"X-Room": "7", "X-Key": "a"}

    assert changed(kept, {"x-room": "8"}) == {"X-Key": "a", "x-room": "8"}
    assert changed(kept, {"x-key": None, "x-none": None}) == {"X-Room": "7"}
    with pytest.raises(ValidationError, match="given twice"):
        changed(kept, {"A": "1", "a": "2"})


def test_the_number_of_headers_is_limited():
    many = {f"X-{nth}": "1" for nth in range(MOST_HEADERS)}

    assert len(changed(many, {"x-0": "2"})) == MOST_HEADERS
    with pytest.raises(ValidationError, match="more than 20"):
        changed(many, {"X-More": "1"})
