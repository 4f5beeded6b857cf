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

from trackers.dashboards.feeds.entries import Entry, Held

ATOM = "application/atom+xml; charset=utf-8"
JSON = "application/feed+json"
# XML cannot represent these at all, and tweets may contain them.
UNSAYABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Atom(Atom1Feed):
    """Dated by its last change, and a deletion counts as one."""

    def __init__(self, *args: Any, changed_at: datetime, **given: Any) -> None:
        super().__init__(*args, **given)
        self.changed_at = changed_at

    def latest_post_date(self) -> datetime:
        return self.changed_at


def atom(held: Held, *, changed_at: datetime, link: str) -> bytes:
    feed = Atom(
        title=sayable(held.title),
        link=link,
        description=None,
        feed_guid=f"{link}#{held.source_id}",
        changed_at=changed_at,
    )
    for one in held.entries:
        feed.add_item(
            title=sayable(one.title),
            link=one.url,
            description=sayable(escape(one.text).replace("\n", "<br>")),
            unique_id=one.url,
            author_name=sayable(one.author),
            pubdate=one.published,
            updateddate=one.published,
        )
    return feed.writeString("utf-8").encode()


def sayable(text: str) -> str:
    return UNSAYABLE.sub("", text)


def json_feed(held: Held, *, changed_at: datetime, link: str) -> bytes:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": held.title,
        "home_page_url": link,
        "items": [item(one) for one in held.entries],
    }
    return json.dumps(feed, ensure_ascii=False).encode()


def item(one: Entry) -> dict[str, object]:
    return {
        "id": one.url,
        "url": one.url,
        "content_text": one.text,
        "date_published": one.published.isoformat(),
        "authors": [{"name": one.author}],
    }


WRITERS = {"atom": (ATOM, atom), "json": (JSON, json_feed)}
