"""What rollups should say, counted plainly, tweet by tweet."""

from collections import defaultdict

from trackers.ingest.sources.models import SourceTweet
from trackers.rollups.classes import CLASSES, class_of
from trackers.rollups.models import Rollup, RollupKind
from trackers.rollups.recount import quarter_at
from trackers.tweets.checkpoints.ages import ROLLUP_AGES
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.models import METRICS, Tweet, TweetText
from trackers.tweets.snowflake import born_at, has_time
from trackers.tweets.tags.models import TweetTag


def sets_of(tweet, text, sources, tags):
    yield RollupKind.ALL, "all"
    if tweet.author_id:
        yield RollupKind.AUTHOR, str(tweet.author_id)
    for source in sources:
        yield RollupKind.SOURCE, str(source)
    for tag in tags:
        yield RollupKind.TAG, str(tag)
    if text and text.lang:
        yield RollupKind.LANGUAGE, text.lang
    for hashtag in set(text.hashtags or ()) if text else ():
        yield RollupKind.HASHTAG, hashtag
    for domain in set(text.domains or ()) if text else ():
        yield RollupKind.DOMAIN, domain


def counted():
    """By kind, quarter and key: a dict of the columns."""
    tweets = [
        tweet for tweet in Tweet.objects.filter(gone_at=None, version_of=None) if has_time(tweet.id)
    ]
    texts = TweetText.objects.in_bulk([tweet.id for tweet in tweets])
    known = checkpoints_of([tweet.id for tweet in tweets], list(ROLLUP_AGES.values()))
    sources, tags, sets = defaultdict(list), defaultdict(list), defaultdict(list)
    for id, source in SourceTweet.objects.values_list("tweet_id", "source_id"):
        sources[id].append(source)
    for id, tag in TweetTag.objects.values_list("tweet_id", "tag_id"):
        tags[id].append(tag)
    for tweet in tweets:
        text = texts.get(tweet.id)
        if text is None or text.kind is not None:
            for kind, key in sets_of(tweet, text, sources[tweet.id], tags[tweet.id]):
                sets[kind, quarter_at(born_at(tweet.id)), key].append(known[tweet.id])
    return {of: columns_of(figures) for of, figures in sets.items()}


def columns_of(figures):
    columns = {"posts": len(figures)}
    is_of_several = any(sum(age in one for one in figures) > 1 for age in ROLLUP_AGES.values())
    for name, age in ROLLUP_AGES.items():
        measured = [one[age] for one in figures if age in one]
        columns[f"measured_{name}"] = len(measured)
        histogram = defaultdict(int)
        for place, metric in enumerate(METRICS):
            values = [counts[place] for counts in measured if counts[place] is not None]
            columns[f"{metric}_{name}"] = sum(values) if values else None
            for value in values:
                histogram[place * CLASSES + class_of(value)] += 1
        has_any = is_of_several and histogram
        columns[f"places_{name}"] = sorted(histogram) if has_any else None
        columns[f"counts_{name}"] = [histogram[n] for n in sorted(histogram)] if has_any else None
    return columns


def kept():
    rows = Rollup.objects.values()
    return {
        (row.pop("kind"), row.pop("quarter"), row.pop("key")): row
        for row in rows
        if row.pop("pk", None) or True
    }
