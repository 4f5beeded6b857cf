"""What kind of post a tweet is: a post is compared with others of its author and its kind."""

from __future__ import annotations

import re

from django.db import models

from trackers.xapi.results import Post

# How X's keys of media begin: videos, those of advertisers, and animated GIFs; photos.
_VIDEO = ("7_", "13_", "16_")
_PHOTO = "3_"
# X writes every link as one to t.co; files have others too.
_LINK = re.compile(r"https?://", re.IGNORECASE)
_RETWEET = "RT @"


class PostKind(models.IntegerChoices):
    REPLY = 1
    QUOTE = 2
    VIDEO = 3
    PHOTO = 4
    LINK = 5
    TEXT = 6


# By name, and those that are neither a reply nor a quote, nor a retweet.
KIND_NAMES = {
    **{kind.name.lower(): (kind,) for kind in PostKind},
    "own": (PostKind.VIDEO, PostKind.PHOTO, PostKind.LINK, PostKind.TEXT),
}


def kind_of_post(post: Post) -> PostKind | None:
    """The first that fits; in SQL `trackers_kind_v1`. None for a retweet, whose counts are those of
    the original.

    In one of X's vocabularies (`xapi.vocabulary`) a reply is seen by its conversation alone, and a
    retweet by its text.
    """
    text = post.text or ""
    if post.retweeted or text.startswith(_RETWEET):
        return None
    begun_by_others = post.conversation_id not in (None, post.id, *post.edit_history)
    if post.replied_to or begun_by_others:
        return PostKind.REPLY
    if post.quoted:
        return PostKind.QUOTE
    if any(key.startswith(_VIDEO) for key in post.media_keys):
        return PostKind.VIDEO
    if any(key.startswith(_PHOTO) for key in post.media_keys):
        return PostKind.PHOTO
    return PostKind.LINK if _LINK.search(text) else PostKind.TEXT
