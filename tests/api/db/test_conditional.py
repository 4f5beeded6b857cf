"""ETags, and cursors that cannot be made up."""

import pytest

from trackers.api.wire.parameters import NOT_THIS_LIST, cursor_of, position_of
from trackers.timelines import store
from trackers.timelines.store import Entry


def test_an_unchanged_response_is_not_sent_again(keeper):
    store.set("a", [Entry(1)])
    keeper.get("timelines/a")
    tag = keeper.headers["ETag"]
    assert keeper.headers["Cache-Control"] == "private, no-cache"
    assert "Authorization" in keeper.headers["Vary"]

    assert keeper.get("timelines/a", **{"If-None-Match": tag}) is None
    assert (keeper.status, keeper.headers["ETag"]) == (304, tag)
    # Each look counts, so a program that polls has to see what is left.
    assert {"RateLimit", "RateLimit-Policy"} <= set(keeper.headers)
    store.append(Entry(2), ["a"])
    assert keeper.get("timelines/a", **{"If-None-Match": tag})["size"] == 2
    assert keeper.headers["ETag"] != tag


# As Apache, Caddy and Jetty mark what they compressed, and as clients may ask for several.
MARKED = ["{}-gzip", "{}-br", "{}-zstd", "{};gzip", "{}--gzip", "{}-gzip-br"]
LISTS = ['"x", {}', '{} , W/"y"', "W/{}", "*"]


@pytest.mark.parametrize("form", [f'"{form}"' for form in MARKED] + LISTS)
def test_a_tag_that_a_proxy_marked_is_known(keeper, form):
    store.set("a", [Entry(1)])
    keeper.get("timelines/a")
    tag = keeper.headers["ETag"]
    marked = form.format(tag.strip('"') if form.startswith('"{') else tag)

    assert keeper.get("timelines/a", **{"If-None-Match": marked}) is None
    assert (keeper.status, keeper.headers["ETag"]) == (304, tag)
    keeper.get("timelines/a", **{"If-None-Match": '"x-gzip", "y"'})
    assert keeper.status == 200


def test_errors_and_changes_have_no_etag(keeper):
    for path in ("timelines/missing", "nowhere"):
        keeper.get(path)
        assert "ETag" not in keeper.headers
    keeper.put("timelines/a", {"entries": []})
    assert "ETag" not in keeper.headers


def test_a_cursor_of_another_list_is_refused():
    cursor = cursor_of([7, "x"], of="tweets:q=a")

    assert position_of(cursor, of="tweets:q=a") == [7, "x"]
    assert position_of("", of="tweets:q=a") is None
    for bad, of in ((cursor, "tweets:q=b"), (cursor[:-1], "tweets:q=a"), ("é:" * 999, "x")):
        with pytest.raises(ValueError, match=NOT_THIS_LIST):
            position_of(bad, of=of)
