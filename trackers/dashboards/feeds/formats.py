"""A feed as Atom, and as JSON Feed 1.1.

Neither contains its own address: that is a secret, and feeds get passed on.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape

from trackers.dashboards.feeds.entries import Entry, FeedContents

_ATOM = "application/atom+xml; charset=utf-8"
_JSON = "application/feed+json"
# XML cannot represent these at all, and tweets may contain them.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class AtomFeed(Atom1Feed):
    """Dated by its last change, and a deletion counts as one."""

    def __init__(self, *args: Any, changed_at: datetime, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.changed_at = changed_at

    def latest_post_date(self) -> datetime:
        return self.changed_at


def _atom_feed(contents: FeedContents, *, changed_at: datetime, link: str) -> bytes:
    feed = AtomFeed(
        title=_xml_text(contents.title),
        link=link,
        description=None,
        feed_guid=f"{link}#{contents.source_id}",
        changed_at=changed_at,
    )
    for entry in contents.entries:
        feed.add_item(
            title=_xml_text(entry.title),
            link=entry.url,
            description=_xml_text(escape(entry.text).replace("\n", "<br>")),
            unique_id=entry.url,
            author_name=_xml_text(entry.author),
            pubdate=entry.published,
            updateddate=entry.published,
        )
    return feed.writeString("utf-8").encode()


def _xml_text(text: str) -> str:
    return _NOT_IN_XML.sub("", text)


def _json_feed(contents: FeedContents, *, changed_at: datetime, link: str) -> bytes:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": contents.title,
        "home_page_url": link,
        "items": [_json_item(entry) for entry in contents.entries],
    }
    return json.dumps(feed, ensure_ascii=False).encode()


def _json_item(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.url,
        "url": entry.url,
        "content_text": entry.text,
        "date_published": entry.published.isoformat(),
        "authors": [{"name": entry.author}],
    }


WRITERS = {"atom": (_ATOM, _atom_feed), "json": (_JSON, _json_feed)}
