"""A page and its parts have one address, and a part is made of what it shows alone."""

from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext


def statements(staff, address):
    with CaptureQueriesContext(connection) as made:
        assert staff.get(address).status_code == 200
    return [one["sql"] for one in made]


def test_a_part_equals_that_of_the_whole_page(staff):
    page = staff.get("/operations/?tab=database").content.decode()
    part = staff.get("/operations/?part=database").content.decode()

    assert "<html" in page
    assert "<html" not in part
    for table in ("health-table", "partitions-table", "tables-table"):
        assert [f'id="{table}"' in shown for shown in (page, part)] == [True, True]
    assert 'id="workers-table"' not in part


def test_a_part_runs_only_its_own_queries(staff):
    page, part = (statements(staff, f"/operations/{query}") for query in ("", "?part=days"))

    assert len(part) < len(page) / 2
    assert sum("trackers_interval" in one for one in page) == 1, "the plan is read once"


def test_an_unknown_part_is_404(staff):
    assert staff.get("/operations/?part=x").status_code == 404
    assert staff.get("/operations/?part=").status_code == 404


def test_a_part_needs_the_permission_of_its_page(client):
    assert client.get("/operations/?part=database").headers["Location"].startswith("/login/")
    client.force_login(User.objects.create_user("eve"))
    assert client.get("/operations/?part=database").status_code == 403
