"""Of the addresses whose answers last, each sender has some places, and all together have more."""

import pytest

from tweetwatch.http import crowds
from tweetwatch.http.crowds import MOST_OF_ALL, MOST_OF_ONE, Crowd, limit_crowd, place_for

ANSWER = b"later"


@pytest.fixture(autouse=True)
def _crowd(monkeypatch):
    monkeypatch.setattr(crowds, "_crowds", {})
    monkeypatch.setattr(crowds, "_open", crowds.Counter())
    limit_crowd(Crowd(b"/stream", b"session", ANSWER))


def head(*headers, path="/stream?after=1"):
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (["Authorization: Bearer a"], ["authorization:  Bearer a"]),
        (["Cookie: session=a"], ["cookie: other=b; session=a; more=c"]),
        (["Cookie: session=a"], ["Cookie: session=b", "Cookie: session=a"]),
        (["Cookie: session=a"], ["X-A: ;session=b", "Cookie: session=a", "Authorization: b"]),
    ],
)
def test_a_sender_is_known_by_token_and_session_whatever_else_is_sent(first, then):
    places = [place_for(head(*first)) for _ in range(MOST_OF_ONE)]

    assert ANSWER not in places
    assert place_for(head(*then)) == ANSWER
    assert place_for(head("Cookie: session=somebody")) != ANSWER
    places[0].leave()
    assert place_for(head(*then)) != ANSWER


def test_all_together_have_a_bound():
    places = [place_for(head(f"Cookie: session={number}")) for number in range(MOST_OF_ALL)]

    assert place_for(head()) == ANSWER
    for place in places:
        place.leave()
    assert not crowds._open


def test_other_addresses_are_not_counted():
    for path in ("/", "/stream/", "/healthz", "*"):
        assert place_for(head(path=path)) is None
    assert place_for(b"\r\n\r\n") is None
