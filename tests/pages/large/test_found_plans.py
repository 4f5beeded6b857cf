"""The search for everything that has a name reads a bounded number of rows, however many there are.

`SEARCH_TWEETS=1000000 pytest tests/pages/large/test_found_plans.py -s` prints the figures of a
million tweets.
"""

import os
import time

import pytest
from django.db import transaction

from tests.pages.many import fill
from trackers.dashboards.search.things import MOST_SEARCHED
from trackers.tweets.tags.models import Tag
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

TWEETS = int(os.environ.get("SEARCH_TWEETS", "50000"))
# More than are searched.
SOURCES = MOST_SEARCHED + 10_000
FILL_SOURCES = """
    INSERT INTO trackers_source (kind, of, every, pages, priority, owner, exclude_replies,
                                 exclude_retweets, username, created_at, passed_id, begun_id,
                                 version, left_out, yielded, again, leaked, hidden_reason, problem,
                                 failures)
    SELECT 'search', 'words of ' || md5(n::text), '5 min', 10, 1, '', false, false, '', now(), 0,
           0, 0, '{}', 0, 0, 0, '', '', 0
    FROM generate_series(1, %s) n
"""
TYPED = (
    "", "a", "pd", "pdm_3", "@p", "@pdm_3", "@nobodyatall", "the", "th", "zyzzyva", "#worldcup",
    "#zyz", "nobodywrotethis", "example.org", "example", "nobody.example", "night train",
    "pause words", "words of", "abcdef", "123456", "https://x.com/a/status/1234567890123456789",
    "https://x.com/pdm_3", "東京",
)  # fmt: skip
TABLES = {
    # What is read of one text, or of the newest; and the rows of what is found.
    "trackers_tweettext": 2 * 2_000 + 100,
    "trackers_author": 200,
    "trackers_tweet": 10,
    "trackers_tweetversion": 10,
    # Those that are called so, and those on which an act is offered.
    "trackers_source": 2 * MOST_SEARCHED,
    "trackers_tag": MOST_SEARCHED,
}
TOUCHED = """
    SELECT relname, seq_scan, seq_tup_read + coalesce(idx_tup_fetch, 0)
    FROM pg_stat_xact_user_tables WHERE relname = ANY(%s)
"""


def test_a_search_for_names_reads_no_more_with_more_tweets_sources_and_tags(staff, capsys):
    fill(TWEETS)
    Tag.objects.bulk_create(Tag(name=f"tag {number}") for number in range(SOURCES))
    with cursor() as db:
        db.execute(FILL_SOURCES, (SOURCES,))
        db.execute("ANALYZE trackers_source, trackers_tag")

    took, reads, scanned = {}, {}, {}
    for mode in ("auto", "force_generic_plan"):
        # psycopg prepares the third time, and then it is a generic plan.
        for _ in range(1 if mode == "auto" else 4):
            for typed in TYPED:
                # In one transaction: between two, the counts go to the statistics at any time.
                with transaction.atomic(), cursor() as db:
                    db.execute(f"SET LOCAL plan_cache_mode = {mode}")
                    before, began = touched(db), time.perf_counter()
                    answer = staff.get("/search/", {"q": typed, "part": "found"})
                    took.setdefault(typed, []).append((time.perf_counter() - began) * 1000)
                    after = touched(db)
                assert b"took too long" not in answer.content
                for table, (scans, rows) in after.items():
                    reads[typed, table] = rows - before[table][1]
                    scanned[typed, table] = scans - before[table][0]

    with capsys.disabled():
        print(f"\n{TWEETS:,} tweets, {SOURCES:,} sources and as many tags:")
        for typed, each in took.items():
            rows = {table: n for (of, table), n in reads.items() if of == typed and n}
            print(f"{typed:44}{min(each):6.1f} to {max(each):.0f} ms", rows)
    assert {key: n for key, n in scanned.items() if n} == {}
    assert {key: n for key, n in reads.items() if n > TABLES[key[1]]} == {}


def touched(db):
    found = {table: (scans, rows) for table, scans, rows in db.execute(TOUCHED, (list(TABLES),))}
    return {table: found.get(table, (0, 0)) for table in TABLES}
