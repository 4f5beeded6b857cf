"""What a page says when the database fails under it: 503, what is wrong, and what to do."""

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from tests.pages.conftest import watched


@pytest.fixture
def calm(client):
    """A client to whom a failure is answered as to a browser."""
    client.force_login(User.objects.create_superuser("ada"))
    client.raise_request_exception = False
    return client


def spoilt(client, address, *statements, **sent):
    """The status and the words of the page, in a database where these were run."""
    with transaction.atomic():
        with connection.cursor() as db:
            for statement in statements:
                db.execute(statement)
        answer = client.post(address, sent) if sent else client.get(address)
        transaction.set_rollback(True)
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("address", ["/sources/", "/admin/trackers/source/"])
def test_a_missing_table_asks_to_migrate(calm, address):
    status, page = spoilt(calm, address, "ALTER TABLE trackers_source RENAME TO moved_away")

    assert status == 503
    assert "The database is not up to date" in page
    assert "run manage.py migrate" in page


def test_a_cancelled_statement_is_reported_and_not_retried_by_the_page(calm):
    status, page = spoilt(
        calm,
        "/sources/",
        "ALTER TABLE trackers_source RENAME TO moved_away",
        "CREATE VIEW trackers_source AS SELECT moved_away.* FROM moved_away, pg_sleep(60)",
        "SET LOCAL statement_timeout = 500",
    )

    assert status == 503
    assert "This took too long" in page
    assert "again.js" not in page


def test_a_failed_form_says_that_it_may_not_have_been_saved(calm):
    status, page = spoilt(
        calm,
        "/tweets/views/save",
        "ALTER TABLE trackers_savedview RENAME TO moved_away",
        name="mine",
        query="q=moon",
    )

    assert status == 503
    assert "What you sent may not have been saved: check before you send it again." in page
    assert "Try again" not in page


def test_another_error_is_still_a_500(calm):
    tweet = watched()

    status, page = spoilt(
        calm,
        f"/tweets/{tweet.pk}/",
        "ALTER TABLE trackers_tweet RENAME TO moved_away",
        "CREATE VIEW trackers_tweet AS SELECT * FROM moved_away WHERE 1 / (id - id) = 1",
    )

    assert status == 500
    assert "Something went wrong" in page
