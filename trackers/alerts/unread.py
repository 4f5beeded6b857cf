"""What a person has not read of the log: alerts that came since they opened it."""

from __future__ import annotations

from django.contrib.auth.models import User

from tweetwatch.database import cursor

# More are not counted: the menu says 99+.
UNREAD_MOST = 99
# Tests, digests and what is other people's own lie between the alerts.
_LINES_READ = 1000
# In SQL, of the account `person`: the id of the newest notice that they have read. They have read
# all that was raised before the account was made.
_PLACE = """
    coalesce(
        (SELECT place FROM trackers_alertsread WHERE user_id = %(person)s),
        (SELECT id FROM trackers_alertnotice
         WHERE at < (SELECT date_joined FROM auth_user WHERE id = %(person)s)
         ORDER BY at DESC LIMIT 1),
        0)
"""
# In SQL, of the account `person`: how many alerts they have not read among the newest thousand
# lines of the log; at most one more than UNREAD_MOST.
COUNT_UNREAD = f"""
    (SELECT count(*) FROM (
        SELECT FROM (
            SELECT kind, owner_id FROM trackers_alertnotice
            WHERE id > {_PLACE} ORDER BY id DESC LIMIT {_LINES_READ}
        ) newest
        WHERE kind = 'alert' AND (owner_id IS NULL OR owner_id = %(person)s)
        LIMIT {UNREAD_MOST + 1}
    ) unread)
"""
_MARK_READ = f"""
    WITH before AS MATERIALIZED (SELECT {_PLACE} AS place),
    marked AS (
        INSERT INTO trackers_alertsread AS r (user_id, place)
        SELECT %(person)s, least(%(until)s, newest.id)
        FROM before, (SELECT coalesce(max(id), 0) AS id FROM trackers_alertnotice) newest
        WHERE least(%(until)s, newest.id) > before.place
        ON CONFLICT (user_id) DO UPDATE SET place = greatest(r.place, excluded.place)
    )
    SELECT place FROM before
"""


def place_of(person: User) -> int:
    """The id of the newest notice that they have read; 0 if there was none yet."""
    read = getattr(person, "alerts_read", None)
    return read.place if read else _place(f"SELECT {_PLACE}", person)


def mark_read(person: User, until: int) -> int:
    """All up to the notice with this id; never fewer than before, nor what is not there yet.
    Returns the id up to which they had read."""
    return _place(_MARK_READ, person, until=until)


def _place(statement: str, person: User, **params: int) -> int:
    with cursor() as db:
        row = db.execute(statement, {"person": person.pk, **params}).fetchone()
    assert row is not None
    return int(row[0])
