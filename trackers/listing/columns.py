"""The columns of a tweet in every file of tweets: of the page, of the API and of the command.

One SELECT makes their values: for a few ids as rows (`rows_by_id`), for all tweets by COPY
(`tweets_query`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from trackers.scores.models import SCORE_METRICS
from trackers.tweets.checkpoints.ages import place_of
from trackers.tweets.engagement import ENGAGEMENT_RATE
from trackers.tweets.export import iso_text
from trackers.tweets.finding.named import NAMED_IN
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS
from trackers.updater.states import SCHEDULED_STATES, STATE_OF_ROW
from tweetwatch.database import array, cursor
from tweetwatch.tables import FORMULAS, Column

# A tag has no comma in its name.
_TAGS = """(
    SELECT string_agg(g.name, ', ' ORDER BY lower(g.name)) FROM trackers_tweettag tt
    JOIN trackers_tag g ON g.id = tt.tag_id AND g.ended_at IS NULL WHERE tt.tweet_id = t.id)"""
_KIND = f"(ARRAY{[kind.name.lower() for kind in PostKind]})[x.kind]"
# Where they lead. An address has no space in it, but may have a comma.
_LINKS = """(
    SELECT string_agg(link ->> 'address', ' ') FROM jsonb_array_elements(x.links) AS link
    WHERE NOT (link -> 'of_media')::boolean)"""
_NEXT = f"CASE WHEN state.name IN ({', '.join(map(repr, SCHEDULED_STATES))}) THEN j.due_at END"
# The ages that people compare; all of them are in the file of checkpoints.
_AGES = {
    "15_min": timedelta(minutes=15), "1_h": timedelta(hours=1),
    "24_h": timedelta(days=1), "7_d": timedelta(days=7),
}  # fmt: skip
_AT_AGES = ", ".join(
    f"min({metric}) FILTER (WHERE age = {place_of(age)}) AS {metric}_{place_of(age)}"
    for age in _AGES.values()
    for metric in SCORE_METRICS
)


@dataclass(frozen=True, slots=True)
class TweetColumn(Column):
    value: str  # in SQL


# `author` is the name after the @: with it, each would be a formula to a spreadsheet.
TWEET_COLUMNS = (
    TweetColumn("tweet_id", "id", "t.id"),
    TweetColumn("url", "text", "'https://x.com/i/status/' || coalesce(t.newest, t.id)"),
    TweetColumn("author_id", "id", "t.author_id"),
    TweetColumn("author", "text", "nullif(a.username, '')"),
    TweetColumn("created_at", "time", "t.created_at"),
    TweetColumn("tracked_at", "time", "t.tracked_at"),
    TweetColumn("came_from", "text", "nullif(t.came_from, '')"),
    TweetColumn("state", "text", "state.name"),
    TweetColumn("paused", "yes_no", "t.paused"),
    TweetColumn("gone_at", "time", "t.gone_at"),
    TweetColumn("missing_because", "text", "nullif(t.missing_reason, '')"),
    TweetColumn("withheld", "text", "nullif(t.withheld, '')"),
    TweetColumn("tags", "text", _TAGS),
    TweetColumn("text", "text", "x.text"),
    TweetColumn("lang", "text", "nullif(x.lang, '')"),
    TweetColumn("newest_version", "id", "t.newest"),
    TweetColumn("version_of", "id", "t.version_of"),
    TweetColumn("conversation_id", "id", "x.conversation_id"),
    TweetColumn("replied_to", "id", "x.replied_to"),
    TweetColumn("quoted", "id", "x.quoted"),
    TweetColumn("retweeted", "id", "x.retweeted"),
    TweetColumn("media_keys", "text", "nullif(array_to_string(x.media_keys, ', '), '')"),
    TweetColumn("kind", "text", _KIND),
    *(TweetColumn(name, "text", f"array_to_string(x.{name}, ', ')") for name in NAMED_IN.values()),
    TweetColumn("links", "text", _LINKS),
    *(TweetColumn(metric, "whole", f"t.{metric}") for metric in METRICS),
    TweetColumn("engagement_rate", "number", ENGAGEMENT_RATE),
    # At the last age that it crossed within 31 days.
    *(
        TweetColumn(f"{of}{metric}", "number", f"round(s.{column}{metric}::numeric, 2)::float8")
        for metric in SCORE_METRICS
        for of, column in (("score_", ""), ("expected_", "expected_"))
    ),
    TweetColumn("scored_at", "time", "s.at"),
    *(
        TweetColumn(f"{metric}_at_{words}", "whole", f"at.{metric}_{place_of(age)}")
        for words, age in _AGES.items()
        for metric in SCORE_METRICS
    ),
    TweetColumn("taken_at", "time", "t.taken_at"),
    TweetColumn("measured_until", "time", "t.measured_until"),
    TweetColumn("measurements", "whole", "t.measurements"),
    TweetColumn("next_check_at", "time", _NEXT),
)
# The text of a tweet that is gone is deleted soon, and shown nowhere until then.
_ROWS = f"""
    SELECT {", ".join(f"{column.value} AS {column.name}" for column in TWEET_COLUMNS)}
    FROM trackers_tweet t
    LEFT JOIN trackers_tweettext x ON x.tweet_id = t.id AND t.gone_at IS NULL
    -- One by one: with a join, all tweets are sorted by author before the first line is sent.
    LEFT JOIN LATERAL (
        SELECT username FROM trackers_author WHERE id = t.author_id OFFSET 0
    ) a ON true
    LEFT JOIN trackers_tweetupdate j ON j.key = t.id
    LEFT JOIN trackers_score s ON s.tweet_id = t.id
    LEFT JOIN LATERAL (
        SELECT {_AT_AGES} FROM (
            SELECT of.* FROM trackers_packedcheckpoints p CROSS JOIN LATERAL
                unnest(p.ages, p.views, p.likes, p.retweets) AS of(age, views, likes, retweets)
            WHERE p.tweet_id = t.id
            UNION ALL
            SELECT age, views, likes, retweets FROM trackers_checkpoint WHERE tweet_id = t.id
        ) of_both
    ) at ON true
    CROSS JOIN LATERAL (SELECT {STATE_OF_ROW} AS name) state
"""
_OF_THESE = f"{_ROWS} WHERE t.id = ANY(%(ids)s::bigint[])"
# A spreadsheet runs a cell that begins like a formula; a leading apostrophe makes it text, as in
# `tweetwatch.tables`.
_FORMULA = "^([{}])".format("".join("\\-" if first == "-" else first for first in FORMULAS))


def rows_by_id(ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """The values of TWEET_COLUMNS, without tweets that are not there any more."""
    with cursor() as db:
        return {row[0]: row for row in db.execute(_OF_THESE, {"ids": array(ids)})}


def tweets_query(form: Literal["jsonl", "csv"]) -> str:
    """A line for each tweet that is {chosen}, by id, for COPY: an object of JSON, or values."""
    values = ", ".join(f"{_copied(column, form)} AS {column.name}" for column in TWEET_COLUMNS)
    rows = f"SELECT {values} FROM ({_ROWS} WHERE {{chosen}} ORDER BY t.id) AS tweet"
    return rows if form == "csv" else f"SELECT row_to_json(line) FROM ({rows}) AS line"


def _copied(column: Column, form: str) -> str:
    """The value as COPY writes it, the same as `tweetwatch.tables` writes."""
    match column.kind, form:
        case "time", _:
            return iso_text(column.name)
        case "id", _:
            # A JSON reader would round numbers of this size.
            return f"{column.name}::text"
        case "yes_no", "csv":
            # COPY itself would say t and f.
            return f"{column.name}::text"
        case "text", "csv":
            return f"regexp_replace({column.name}, '{_FORMULA}', '''\\1')"
    return column.name
