"""Time as a test wants it, for the database and for the fake X together.

The product takes the time from the database. A schema before pg_catalog on this connection's
search path has functions of the same names, which run ahead by a setting: all SQL follows them.
"""

from datetime import UTC, datetime, timedelta

from tweetwatch.database import cursor

FUNCTIONS = ("now", "statement_timestamp", "clock_timestamp", "transaction_timestamp")
SCHEMA = "CREATE SCHEMA ahead"
# In pg_catalog none of these would be found: the search path of the connection names both.
FUNCTION = """
    CREATE FUNCTION ahead.{name}() RETURNS timestamptz LANGUAGE sql STABLE
    RETURN pg_catalog.{name}() + pg_catalog.current_setting('ahead.by')::interval
"""


class FakeTime:
    def __init__(self, x, *, start):
        self.x, self.ahead = x, start - datetime.now(UTC)
        with cursor() as db:
            db.execute(SCHEMA)
            for name in FUNCTIONS:
                db.execute(FUNCTION.format(name=name))
            db.execute("SET search_path = ahead, public, pg_catalog")
        self.show()

    def show(self):
        with cursor() as db:
            db.execute("SELECT set_config('ahead.by', %s, false)", [f"{self.ahead / ONE_S} s"])
        self.x.put("clock", {"ahead_s": self.ahead / ONE_S})

    def pass_(self, by):
        self.ahead += by
        self.show()

    def now(self):
        return datetime.now(UTC) + self.ahead


ONE_S = timedelta(seconds=1)
