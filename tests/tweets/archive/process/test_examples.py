"""The examples of docs/archive.md, run as they stand there, beside an archive of January 2026."""

import re
import runpy
from collections import Counter
from datetime import date

import pytest

from tests.conftest import PROJECT
from tests.tweets.archive.companions import tracked_with_facts
from tests.tweets.archive.samples import archive, fill, histories_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def expected(store, tmp_path, monkeypatch):
    """All samples by tweet; some are of another month."""
    ids = fill(tweets=12, months=[date(2025, 12, 1), date(2026, 1, 1)])
    histories = histories_of(ids)
    # Their newest samples stay in the database.
    tracked_with_facts(ids)
    archive(store, before=date(2026, 2, 1))
    # As in the examples, it is the folder `archive` of where they are.
    monkeypatch.chdir(tmp_path)
    return histories


def examples_with(title):
    page = (PROJECT / "docs/archive.md").read_text()
    section = page.partition(f"## With {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)


def test_duckdb(expected):
    duckdb = pytest.importorskip("duckdb")
    rows, facts = (duckdb.sql(example).fetchall() for example in examples_with("DuckDB"))
    most = {
        id: max(run.views or 0 for run in runs if run.measured_until.year == 2026)
        for id, runs in expected.items()
    }
    assert len(rows) == 10
    assert all(most[id] == views for id, views in rows)
    assert len({id for *_, id, _ in facts} & set(expected)) == 10


def test_polars(expected, tmp_path, capsys):
    pytest.importorskip("polars")
    [example] = examples_with("Polars")
    (tmp_path / "example.py").write_text(example)

    day = runpy.run_path(str(tmp_path / "example.py"))["day"]

    days = Counter(run.taken_at.date() for runs in expected.values() for run in runs)
    assert day.sort("taken_at").collect().rows() == sorted(days.items())
    assert "taken_at" in capsys.readouterr().out
