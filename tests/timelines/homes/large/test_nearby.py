"""What is looked for near an anchor is what would be found anyway, or too little to be told."""

import psycopg
import pytest

from tests.timelines.homes.large_homes import fill, follow_many
from tests.timelines.homes.world import BASE, DAY
from trackers.timelines import homes
from trackers.timelines.homes import nearby, on_read
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

TWEETS, LIMIT = 12_000, 60
HALF = BASE + TWEETS * DAY // 1440 // 2
# Of three in a hundred an origin remembers that it brought them, and nothing else is known.
UNTRACK = "DELETE FROM trackers_tweet WHERE (id >> 22) / 60000 % 33 = 0"


@pytest.fixture
def followers():
    """Of the 5,000 sources one follows 2,000, one 200, and one 3."""
    fill(tweets=TWEETS, followers=3)
    with cursor() as db:
        many, some, few = (row[0] for row in db.execute("SELECT id FROM trackers_follower"))
        follow_many(many, 2_000)
        follow_many(few, 3)
        db.execute(UNTRACK, prepare=False)
        db.execute("ANALYZE", prepare=False)
    return many, some, few


@pytest.mark.parametrize(
    ("way", "anchor"),
    [
        pytest.param("older", LARGEST_ID, id="page one"),
        pytest.param("older", HALF, id="in the middle"),
        pytest.param("older", BASE + DAY // 10, id="near the end"),
        pytest.param("newer", HALF, id="newer than the middle"),
        pytest.param("newer", 0, id="from the first on"),
    ],
)
def test_quick_reads_return_the_first_tweets_of_the_full_read(followers, way, anchor):
    of_all = on_read.CANDIDATES[way]
    enough = []
    for me in followers:
        fields = {"follower": me, "origins": None, "anchor": anchor, "limit": LIMIT}
        with cursor() as db:
            truth = db.execute(of_all, fields).fetchall()
            for name in ("_TOGETHER_OF", "_EACH_OF"):
                found = db.execute(getattr(nearby, name)[way], fields).fetchall()
                # Never one that is not there; and no gap before the last of them.
                assert found == truth[: len(found)], (me, name)
                enough += [(me, name)] if len(found) == LIMIT else []

    many, some, _ = followers
    if anchor in (LARGEST_ID, HALF):
        assert {(many, "_TOGETHER_OF"), (many, "_EACH_OF"), (some, "_EACH_OF")} <= set(enough)


def test_a_page_takes_four_statements_for_any_strategy_and_number_of_sources(
    followers, monkeypatch
):
    many, some, _ = followers
    known = homes.strategies()
    asked = []
    for me in (many, some):
        for strategy in known.values():
            strategy.rebuild(me)
            strategy.page(me)
    run = psycopg.Cursor.execute

    def execute(cursor, query, *given, **how):
        asked.append(query)
        return run(cursor, query, *given, **how)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)

    for me in (many, some):
        for key, strategy in known.items():
            asked.clear()
            page = strategy.page(me)
            assert (len(page.ids), len(asked)) == (50, 4), (key, asked)
