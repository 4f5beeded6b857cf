"""CTEs for statements that store events together with the change that causes them.

`topic` (which of our topics are recorded) ─> `told` (the caller's INSERT) ─> `staged`
Such a statement inserts its events in a CTE called `told`, which returns `id`, and inserts none
where `({TWEETS})`, or `({MILESTONES})`, is null. A statement that measures stages its updates
without rows of their own (STAGED_WITH_UPDATES): the spread writes these.
"""

from __future__ import annotations

# Whether one of our own topics is recorded: somebody subscribes to it, or watches it.
RECORDED = "(wanted OR watched_until > now())"

# Read once per statement. Null: nobody wants the topic, so nothing is stored.
TOPIC = f"""
    topic AS MATERIALIZED (
        SELECT max(id) FILTER (WHERE name = 'tweets') AS tweets,
               max(id) FILTER (WHERE name = 'milestones') AS milestones
        FROM trackers_topic WHERE {RECORDED} AND name IN ('tweets', 'milestones')
    )
"""
SELECT_TWEETS_TOPIC = "SELECT tweets FROM topic"
SELECT_MILESTONES_TOPIC = "SELECT milestones FROM topic"

# now() is the `received_at` of all events of the transaction.
STAGED = """
    staged AS (
        INSERT INTO trackers_staged (received_at, events)
        SELECT now(), array_agg(id ORDER BY id) FROM told HAVING count(*) > 0
    )
"""

# Updates come before what else happened to their tweets. `news`: event_id, t, id, type, f.
STAGED_WITH_UPDATES = """
    staged AS (
        INSERT INTO trackers_staged (received_at, events, updates)
        SELECT now(), updates.ids || others.ids, updates.rows
        FROM (
            SELECT coalesce(array_agg(event_id), '{}') AS ids,
                   array_agg(ROW(event_id, t, id, type, f)::trackers_stagedupdate) AS rows
            FROM news WHERE event_id IS NOT NULL
        ) updates CROSS JOIN (
            SELECT coalesce(array_agg(id ORDER BY id), '{}') AS ids FROM told
        ) others
        WHERE cardinality(updates.ids) + cardinality(others.ids) > 0
    )
"""


def alerts(rows: str) -> str:
    """The CTEs that store an alert for each of these rows of (url, data), as jsonb."""
    return f"""
    told AS (
        INSERT INTO trackers_event (topic_id, type, t, url, data)
        SELECT topic.id, 'create', floor(extract(epoch FROM clock_timestamp()) * 1000), url, data
        FROM ({rows}) AS alert(url, data)
        JOIN trackers_topic topic ON topic.name = 'alerts' AND {RECORDED}
        RETURNING id
    ),
    {STAGED}
    """


def later(at: str, than: str) -> str:
    """`at` in milliseconds since 1970, but always later than the time `than`."""
    return f"floor(extract(epoch FROM greatest({at}, {than} + interval '1 ms')) * 1000)"
