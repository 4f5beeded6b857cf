"""SQL that writes happenings, for the statements that cause them."""

from __future__ import annotations

from tweetwatch.statements import statement

# The CTE of a statement that records measurements: it follows `recorded` and `passed`.
# {happened_more}: SELECTs of further rows, each after a UNION ALL.
HAPPENED = statement(__file__, "_happened", open=["happened_more"])

# Further rows of HAPPENED: of the CTE `unseen`, which X does not show; once it is confirmed.
UNSEEN_HAPPENED = """
    UNION ALL
    SELECT 'gone', id, at, jsonb_build_object('reason', reason, 'views', views_before) FROM unseen
    WHERE gone AND gone_at IS NULL
"""
