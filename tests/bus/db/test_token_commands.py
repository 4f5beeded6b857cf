"""`bus_token`: making, listing and removing the tokens of clients."""

import pytest
from django.core.management import CommandError

from tests.bus.commands import manage, printed_rows
from trackers.bus import tokens
from trackers.bus.auth import EITHER, ROOT
from trackers.events.subscribers import signing_keys


def test_a_token_is_shown_once_and_then_lets_its_client_in(rf):
    [made] = printed_rows("bus_token", "add", "shop")

    basic = signing_keys.base64.b64encode(f"{made['token']}:x".encode()).decode()
    caller = EITHER(rf.get("/", headers={"Authorization": f"Basic {basic}"}))
    assert (caller.name, caller.is_root) == ("shop", False)
    [row] = printed_rows("bus_token", "list")
    assert row == {"name": "shop", "token": f"{made['token'][:10]}…", "scope": "bus"}
    assert manage("bus_token", "remove", "shop")[0].startswith("Revoked shop")
    assert not tokens.bus_tokens().exists()
    with pytest.raises(CommandError, match="no token called shop"):
        manage("bus_token", "remove", "shop")


def test_the_root_token_is_unique_and_its_name_is_reserved(rf):
    [made] = printed_rows("bus_token", "add", "admin", "--root")

    basic = signing_keys.base64.b64encode(f"{made['token']}:x".encode()).decode()
    assert ROOT(rf.get("/", headers={"Authorization": f"Basic {basic}"})).is_root
    with pytest.raises(CommandError, match="already a token called admin, and it is root's"):
        manage("bus_token", "add", "admin")
    assert tokens.find_client_tokens("admin") == []
    assert [row["scope"] for row in printed_rows("bus_token", "list")] == ["root"]


def test_one_of_several_tokens_is_removed_by_its_first_letters(rf):
    [first], [second] = (printed_rows("bus_token", "add", "shop") for _ in range(2))
    rows = printed_rows("bus_token", "list")
    assert {row["name"] for row in rows} == {"shop"}
    assert {row["token"] for row in rows} == {f"{one['token'][:10]}…" for one in (first, second)}

    with pytest.raises(CommandError, match="0 tokens of shop begin with nothing"):
        manage("bus_token", "remove", "shop", "--only", "nothing")
    [told, *_] = manage("bus_token", "remove", "shop", "--only", f"{first['token'][:10]}…")

    assert told.startswith("Revoked a token of shop, which has 1 more")
    [left] = printed_rows("bus_token", "list")
    assert left["token"] == f"{second['token'][:10]}…"


@pytest.mark.parametrize(
    ("name", "token", "seen"),
    [
        ("shop", "shop--0123456789abcdef", "shop--0123…"),
        ("shop:eu", "shop-eu--0123456789abcdef", "shop-eu--0123…"),
        ("shop", "shop--01234", "shop--0…"),
        ("shop", "0123456789abcdef", "0123…"),
        ("shop", "abc", "…"),
        ("shop", "--0123456789abcdef", "…"),
    ],
)
def test_a_masked_token_shows_at_most_a_quarter_of_its_secret(name, token, seen):
    tokens.make_token(name, token)

    assert [tokens.masked_token(one) for one in tokens.bus_tokens()] == [seen]
