"""SQL in files: each is loaded and whole, and the server takes each as it is sent."""

import importlib
import pkgutil
import re

import psycopg
import pytest
from django.db import connection

import trackers
from tests.conftest import PROJECT
from trackers.jobs.models import job_classes
from trackers.jobs.queue import CREATE_ARRIVALS
from trackers.jobs.tables import QUEUE_PARTS, on
from tweetwatch.statements import PLACEHOLDER, fill, loaded_statements, statement

NAMED = re.compile(r"%\((\w+)\)s")
# What is filled in when a statement is sent, other than what depends on the queue.
LATE_PARTS = {
    "at_ages.sql": {
        "slices": "likes[1:] AS likes", "arrays": "array_agg(likes)", "columns": "likes",
        "elements": "s.likes[n]",
    },
    "pack.sql": {"rows": "trackers_sample_default", "start": "now()", "end": "now()"},
    "pack_checkpoints.sql": {
        "rows": "trackers_checkpoint_default", "start": "now()", "end": "now()"
    },
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _every_module():
    for module in pkgutil.walk_packages(trackers.__path__, "trackers."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)


def files():
    return {
        file for top in ("trackers", "tweetwatch") for file in (PROJECT / top).rglob("sql/*.sql")
    }


def statements():
    """All but pieces of others."""
    return sorted(file for file in files() if not file.name.startswith("_"))


def test_every_sql_file_is_loaded():
    assert len(files()) > 8
    assert {file for file in files() if file not in loaded_statements} == set()


def test_only_names_of_queue_tables_are_left_as_placeholders():
    left = {
        (file.name, name)
        for file in statements()
        for text in loaded_statements[file]
        for name in PLACEHOLDER.findall(text)
    }

    known = {*QUEUE_PARTS}
    assert {
        (file, name) for file, name in left if name not in known | LATE_PARTS.get(file, {}).keys()
    } == set()


RULE = re.compile(r"trackers_\w+_v\d+")


@pytest.mark.django_db
def test_the_server_inlines_each_rule_in_each_statement():
    """A rule that the planner does not write into the statement costs a call for each row."""
    refused, called = {}, {}
    count = 0
    # The statement after it reads the table that this one makes.
    connection.connection.execute(CREATE_ARRIVALS)
    for file in statements():
        for text in filter(fits_the_server, loaded_statements[file]):
            if late := LATE_PARTS.get(file.name):
                text = fill(text, late)
            queues = job_classes() if PLACEHOLDER.search(text) else [None]
            for queue in queues:
                count += 1
                problem, plan = prepare(on(queue, text) if queue else text)
                if problem:
                    refused[file.name, queue] = problem
                elif rules := set(RULE.findall(plan)):
                    called[file.name, queue] = rules

    assert count > 8
    assert (refused, called) == ({}, {})


def fits_the_server(text):
    """Since PostgreSQL 18 a statement can return rows as they were before."""
    return connection.connection.info.server_version >= 180000 or " old." not in text


def prepare(text):
    """What PostgreSQL has against the statement, and its generic plan. It infers the types of its
    values."""
    order = list(dict.fromkeys(NAMED.findall(text)))
    text = NAMED.sub(lambda found: f"${order.index(found[1]) + 1}", text).replace("%%", "%")
    values = f"({', '.join(['NULL'] * len(order))})" if order else ""
    db = connection.connection
    try:
        with db.transaction():
            db.execute(f"PREPARE whatever AS {text}", prepare=False)
    except psycopg.Error as error:
        return str(error), ""
    db.execute("SET LOCAL plan_cache_mode = force_generic_plan", prepare=False)
    plan = db.execute(f"EXPLAIN (VERBOSE) EXECUTE whatever {values}", prepare=False).fetchall()
    db.execute("DEALLOCATE whatever", prepare=False)
    return "", "\n".join(line for (line,) in plan)


@pytest.mark.django_db
def test_a_rule_with_a_volatile_value_is_called():
    """Where it uses the value twice; so the test above would see it."""
    _, plan = prepare("SELECT trackers_known_pace_v1(random(), 1)")

    assert RULE.findall(plan) == ["trackers_known_pace_v1"]


def test_a_placeholder_without_a_part_is_refused(tmp_path):
    write(tmp_path, "SELECT {what} FROM {where}")

    with pytest.raises(KeyError, match="where"):
        statement(str(tmp_path / "module.py"), "of_a_test", what="1")


def test_a_part_without_a_placeholder_is_refused(tmp_path):
    write(tmp_path, "SELECT 1 -- not {what} a comment says")

    with pytest.raises(KeyError, match="what"):
        statement(str(tmp_path / "module.py"), "of_a_test", what="1")


def test_braces_of_sql_are_kept():
    assert fill("SELECT '{}'::int[], '{1,2}', {n}", {"n": 3}) == "SELECT '{}'::int[], '{1,2}', 3"


def write(folder, text):
    (folder / "sql").mkdir()
    (folder / "sql" / "of_a_test.sql").write_text(text)
