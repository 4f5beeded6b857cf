"""What the planner makes of the product's own prepared statements, as they stand on the server."""

import re

from psycopg import sql

from tweetwatch.database import cursor

NAMED = re.compile(r"%\((\w+)\)s")


def prepared(statement):
    """Name and count of generic and of custom plans of the statement; it was executed before."""
    order = list(dict.fromkeys(NAMED.findall(statement)))
    text = NAMED.sub(lambda found: f"${order.index(found[1]) + 1}", statement)
    with cursor() as db:
        rows = db.execute(
            "SELECT name, generic_plans, custom_plans, statement FROM pg_prepared_statements"
            " WHERE NOT from_sql ORDER BY prepare_time DESC",
            prepare=False,
        ).fetchall()
    return next(row[:3] for row in rows if row[3] == text)


def explain(statement, params):
    """Execute the prepared statement once more and tell its plan: {"Plan": …}."""
    name, *_ = prepared(statement)
    order = dict.fromkeys(NAMED.findall(statement))
    values = sql.SQL(", ").join(sql.Literal(params[one]) for one in order)
    query = sql.SQL("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE {}({})")
    with cursor() as db:
        found = db.execute(query.format(sql.Identifier(name), values), prepare=False).fetchone()
    return found[0][0]


def nodes(plan):
    """Every node of a plan, the top one first."""
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def scans(plan, table):
    """How a table is reached, in the order of the plan."""
    return [
        (node["Node Type"], node.get("Index Name", ""))
        for node in nodes(plan["Plan"])
        if node.get("Relation Name") == table
    ]


def buffers(told):
    top = told["Plan"]
    return top["Shared Hit Blocks"] + top["Shared Read Blocks"]
