"""The routers of tweets, and the tweet that an address names.

All methods of an address are in one router, whichever module they are in.
"""

from __future__ import annotations

from ninja import Router

from trackers.tweets.models import Tweet, TweetVersion

# Before the other one, whose {id} would take any word.
many = Router(tags=["tweets"])
single = Router(tags=["tweets"])

# For the description of a call without an id in its address.
MAY_BE_MISSING = {"responses": {404: {"$ref": "#/components/responses/Problem404"}}}
NOT_TRACKED = "Tweet {} is not tracked."


def find_tweet(id: int) -> Tweet:
    """By its id, or that of one of its versions; LookupError, which is 404, if there is none."""
    tweets = Tweet.objects.select_related("author", "tweettext")
    tweet = tweets.filter(pk=id).first()
    if tweet is None:
        versions = TweetVersion.objects.filter(pk=id).values("tweet_id")
        tweet = tweets.filter(pk__in=versions).first()
    if tweet is None:
        raise LookupError(NOT_TRACKED.format(id))
    return tweet
