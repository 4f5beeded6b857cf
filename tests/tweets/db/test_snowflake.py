"""The time in an id: the same in Python and in SQL."""

from trackers.tweets.snowflake import LARGEST_ID, born_at
from tweetwatch.database import cursor

IDS = [0, 1, 2**22, 20, 1_000_000_000_000_000_000, 1_993_000_000_000_000_123, LARGEST_ID]


def test_sql_and_rule_agree():
    with cursor() as db:
        from_database = db.execute(
            "SELECT trackers_born_at_v1(id) FROM unnest(%s::bigint[]) WITH ORDINALITY AS a(id, n)"
            " ORDER BY n",
            [IDS],
        ).fetchall()

    assert [at for (at,) in from_database] == [born_at(id) for id in IDS]
