"""No search, no state and no page may grow with the number of tweets.

`SEARCH_TWEETS=1000000 pytest tests/pages/tweets/large/test_search_plans.py -s` prints the figures
of a million tweets.
"""

import os
import time
from collections import namedtuple
from contextlib import nullcontext
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, transaction
from django.http import QueryDict
from django.utils import timezone

from tests.jobs.plans import buffers, nodes
from tests.pages.many import FILL_GAINS, TABLES, fill
from trackers.dashboards.tweets.list_views import sorted_or_newest
from trackers.listing.query import parse_query
from trackers.listing.search import count_tweets
from trackers.listing.sorts import Unsorted
from trackers.tweets.finding import named, texts
from trackers.tweets.finding.direction import Direction
from trackers.tweets.finding.words import parse_search
from trackers.tweets.gains import update
from trackers.tweets.models import METRICS, Tweet
from tweetwatch.database import cursor
from tweetwatch.time_limits import limit_time, only_bitmaps

pytestmark = pytest.mark.django_db(transaction=True)

TWEETS = int(os.environ.get("SEARCH_TWEETS", "50000"))

SEARCHES = {
    "all": "",
    "a word nobody wrote": "q=nobodywrotethis",
    "a word in every text": "q=the",
    "a rare word": "q=zyzzyva",
    "a word of long ago": "q=worldcup",
    "one letter": "q=z",
    "two letters": "q=zy",
    "three letters": "q=zyz",
    "a letter nobody wrote": "q=q",
    "a letter in every text": "q=t",
    "a phrase": 'q="zyzzyva worldcup"',
    "a phrase nobody wrote": 'q="worldcup the"',
    "all but a word": "q=the -worldcup",
    "Japanese": "q=東京タワー",
    "Japanese nobody wrote": "q=京東京東",
    "@name": "q=@PDM_3",
    "@nobody": "q=@nobodyatall",
    "@letter": "q=@p",
    "a name": "q=pdm_3",
    "fresh": "state=fresh",
    "resting": "state=resting",
    "paused": "state=paused",
    "missing": "state=missing",
    "not found": "state=not_found",
    "waits for money": "state=no_money",
    "gone": "state=gone",
    "isolated": "state=isolated",
    "a word in every text, fresh": "q=the&state=fresh",
    "a word in every text, resting": "q=the&state=resting",
    "a word in every text, paused": "q=the&state=paused",
    "a rare word, resting": "q=zyzzyva&state=resting",
    "an author": "author=1",
    "no author": "author=nobodyatall",
    "a language nobody wrote": "lang=xx",
    "a language of all": "lang=en",
    "a figure nobody has": "min_likes=1000000",
    "a score nobody has": "min_score=1000",
    "a rare score": "min_score=5",
    "a score of most": "min_score=1",
    "an engagement rate nobody has": "min_engagement=50",
    "a rare score, a word in every text": "min_score=5&q=the",
    "an author, a language, a figure": "author=2&lang=xx&min_likes=5",
    "a tag of half": "tag=half",
    "a tag of three": "tag=three",
    "no tag": "tag=nosuchtag",
    "a tag of half, an author": "tag=half&author=1",
    "a tag of half, paused": "tag=half&state=paused",
    "a tag of half, a language nobody wrote": "tag=half&lang=xx",
    "a tag of three, a word in every text": "tag=three&q=the",
    "a tag of half, a word nobody wrote": "tag=half&q=nobodywrotethis",
    "a hashtag of all": "hashtag=the",
    "a rare hashtag": "hashtag=zyzzyva",
    "a hashtag of long ago": "hashtag=worldcup",
    "a hashtag nobody wrote": "hashtag=nobodywrotethis",
    "a rare hashtag, resting": "hashtag=zyzzyva&state=resting",
    "a rare hashtag, a word in every text": "hashtag=zyzzyva&q=the",
    "a hashtag of all, a word nobody wrote": "hashtag=the&q=nobodywrotethis",
    "a hashtag of all, of long ago": "hashtag=the&domain=nobody.example",
    "a domain of most": "domain=example.org",
    "a domain, a rare hashtag, a kind": "domain=example.org&hashtag=zyzzyva&kind=own",
    "a kind": "kind=video",
    "a link, a kind": "kind=text&has=link",
    "media, which nobody has": "has=media",
    "an hour": "age=1h",
    "before all": "until=2011-01-01",
    "a word nobody wrote, an author": "q=nobodywrotethis&author=1",
    "a word in every text, no such figure": "q=the&min_likes=1000000",
}
# These have numbered pages.
ORDERS = {
    "most likes": "sort=likes",
    "checked last": "sort=checked",
    "next check of the paused": "sort=next&state=paused",
    "most likes of an author": "sort=likes&author=1",
    "most likes, a word": "sort=likes&q=zyzzyva",
    "most likes, a word in every text": "sort=likes&q=the",
    "most likes of a hashtag of all": "sort=likes&hashtag=the",
    "most likes of a rare hashtag": "sort=likes&hashtag=zyzzyva",
    "most likes of a kind": "sort=likes&kind=video",
    "most likes of a tag of half": "sort=likes&tag=half",
    "most likes of a tag of three": "sort=likes&tag=three",
    "highest scores": "sort=score-views",
    "highest scores, a rare score": "sort=score-views&min_score=5",
    "highest scores of a tag of half": "sort=score-views&tag=half",
    "largest gain, a tag of half": "sort=gain-likes-1440&tag=half",
    "fastest": "sort=velocity-likes-60",
    "fastest, the last page": "sort=velocity-likes-60&page=40",
    "largest gain, a word nobody wrote": "sort=gain-likes-1440&q=nobodywrotethis",
    "largest gain, resting": "sort=gain-likes-1440&state=resting",
    "largest gain, a language nobody wrote": "sort=gain-likes-15&lang=xx",
}
TOUCHED = """
    SELECT relname, seq_scan, seq_tup_read + coalesce(idx_tup_fetch, 0)
    FROM pg_stat_xact_user_tables WHERE relname = ANY(%s)
"""
# 10,000 texts are looked through, RARE are fetched beside them; an author and a text to each row.
MOST_ROWS = 2 * 10_000 + 2 * texts.MAX_RARE_MATCHES
# With filters, each of 10,000 candidates may be looked up in four tables.
MOST_FILTERED = 4 * 10_000


# Milliseconds by address, to be told; never asserted.
TOOK: dict[str, list[float]] = {}

Touched = namedtuple("Touched", "scans rows")

PLANS = {
    "texts": (texts.TEXTS, "nobodywrotethis"),
    "all that have a rare word": (texts.ALL_RARE, "zyzzyva"),
    "all that have a frequent word": (texts.ALL_RARE, "worldcup"),
    "all that have a phrase": (texts.ALL_RARE, '"worldcup the"'),
}
HASHTAGS = {
    "texts with a hashtag": (named.NEXT_TEXTS.format(column="hashtags"), "nobodywrotethis"),
    "all that have a rare hashtag": (named.ALL_NAMING.format(column="hashtags"), "zyzzyva"),
    "all that have a frequent hashtag": (named.ALL_NAMING.format(column="hashtags"), "the"),
}
BY_NAMES = {("Bitmap Heap Scan", ""), ("Bitmap Index Scan", "tweettext_entities")}
BY_WORDS = {("Bitmap Heap Scan", ""), ("Bitmap Index Scan", "tweettext_words")}
# 10,000 texts lie on some 2,500 pages; RARE matches on a page each at the worst.
MOST_BUFFERS = 6_000 * max(1, TWEETS // 500_000)


def test_searches_read_a_bounded_number_of_rows_and_never_a_whole_table(capsys):
    fill(TWEETS)
    with cursor() as db:
        db.execute(FILL_GAINS, {"metrics": list(METRICS), "most": 2 * update.MAX_LIST_LENGTH})
        db.execute("ANALYZE trackers_gain")
    ids = Tweet.objects.order_by("-pk").values_list("pk", flat=True)
    places = {
        "first": "",
        "middle": f"&before={ids[TWEETS // 2]}",
        "last": f"&before={ids[TWEETS - 99]}",
    }
    rows = {}
    for place, before in places.items():
        for mode in ("auto", "force_generic_plan"):
            for name, query in SEARCHES.items():
                asked = parse_query(QueryDict(query + before))
                rows[name, place, mode] = rows_read(asked, mode=mode)

    for name, query in ORDERS.items():
        for mode in ("auto", "force_generic_plan"):
            rows[name, "first", mode] = rows_read(parse_query(QueryDict(query)), mode=mode)
    assert count_tweets() == min(TWEETS, 10_001)

    plans = {name: explain(*given) for name, given in (PLANS | HASHTAGS).items()}

    with capsys.disabled():
        print(f"\n{TWEETS:,} tweets; rows read:")
        for name in (*SEARCHES, *ORDERS):
            took = TOOK[parse_query(QueryDict((SEARCHES | ORDERS)[name])).here]
            reads = [f"{n:>7,}" for (one, *_), n in rows.items() if one == name]
            print(f"{name:36}{min(took):6.0f} to {max(took):.0f} ms", *reads)
        for name, plan in plans.items():
            took = f"{buffers(plan):,} buffers, {plan['Execution Time']:.1f} ms"
            print(f"{name:32} {took}, {sorted(scans(plan))}")
    assert {key: n for key, n in rows.items() if n > most_rows(key[0])} == {}
    assert scans(plans.pop("texts")) == {("Index Scan", "trackers_tweettext_pkey")}
    for name in ("all that have a rare hashtag", "all that have a frequent hashtag"):
        assert scans(plans[name]) == BY_NAMES, name
        assert buffers(plans.pop(name)) < MOST_BUFFERS, name
    assert scans(plans.pop("texts with a hashtag")) == {("Index Scan", "trackers_tweettext_pkey")}
    for name, plan in plans.items():
        assert scans(plan) == BY_WORDS, name
        assert buffers(plan) < MOST_BUFFERS, name


def test_a_word_in_every_text_by_most_likes_reads_no_more_texts_than_a_page_needs():
    # More than the steps of a search could look through.
    fill(12_000)
    with cursor() as db:
        db.execute(FILL_GAINS, {"metrics": list(METRICS), "most": 2 * update.MAX_LIST_LENGTH})
    asked = parse_query(QueryDict("q=the&sort=likes"))

    with transaction.atomic(), cursor() as db:
        before = touched(db)["trackers_tweettext"]
        page = sorted_or_newest(asked, now=timezone.now())
        after = touched(db)["trackers_tweettext"]

    assert (len(page.tweets), page.note) == (50, Unsorted.WORDS.ranked_note)
    assert page.older
    # With so few tweets it takes 700 texts, not 200, to show that it is frequent; then 200 of the
    # list are looked through, and 50 are shown.
    assert after.rows - before.rows <= 1_000


def most_rows(name):
    query = (SEARCHES | ORDERS)[name]
    is_plain = name in SEARCHES and set(QueryDict(query)) <= {"q", "state"}
    return MOST_ROWS if is_plain else MOST_FILTERED


def rows_read(asked, *, mode):
    """Of all tables together. psycopg prepares the third time, and then it is a generic plan."""
    for _ in range(1 if mode == "auto" else 4):
        # In one transaction: between two, the counts go to the statistics at any time.
        with transaction.atomic(), cursor() as db:
            db.execute(f"SET LOCAL plan_cache_mode = {mode}")
            before, began = touched(db), time.perf_counter()
            sorted_or_newest(asked, now=timezone.now())
            TOOK.setdefault(asked.here, []).append((time.perf_counter() - began) * 1000)
            after = touched(db)
    assert {table for table in after if after[table].scans > before[table].scans} == set(), asked
    return sum(after[table].rows - before[table].rows for table in after)


def touched(db):
    found = {table: Touched(scans, rows) for table, scans, rows in db.execute(TOUCHED, (TABLES,))}
    return {table: found.get(table, Touched(0, 0)) for table in TABLES}


def explain(statement, typed):
    words = parse_search(typed)
    fields = {
        "exact": words.exact,
        "loose": words.loose,
        "patterns": list(words.patterns),
        "plain": words.is_plain,
        "rare": texts.MAX_RARE_MATCHES if words.is_plain else texts.MAX_RARE_PHRASE_MATCHES,
        "beyond": Direction().beyond,
        "looked": 10_000,
        "most": texts.MAX_RARE_MATCHES + 1 if "@>" in statement else 51,
        "name": typed,
    }
    is_bitmap = statement == texts.ALL_RARE or " @> ARRAY[%(name)s] LIMIT" in statement
    only = only_bitmaps() if is_bitmap else nullcontext()
    with limit_time(timedelta(minutes=1)), only, psycopg.ClientCursor(connection.connection) as db:
        query = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}"
        return db.execute(query, fields).fetchone()[0][0]


def scans(told):
    return {
        (node["Node Type"], node.get("Index Name", ""))
        for node in nodes(told["Plan"])
        if "Relation Name" in node or "Index Name" in node
    }
