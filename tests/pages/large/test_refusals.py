"""What a button could not do is said as an error, and it is not offered where that is known."""

import pytest

from tests.pages.conftest import flat, watched
from tests.pages.sources import now, source

pytestmark = pytest.mark.django_db


def test_a_refused_act_is_shown_as_an_error_and_a_done_one_as_a_notice(staff):
    tweet = watched(paused=True)

    refused = flat(staff.post(f"/tweets/{tweet.pk}/check", follow=True))
    done = flat(staff.post(f"/tweets/{tweet.pk}/resume", follow=True))

    assert '<p class="notice bad" role="alert">' in refused
    assert "no check now, because paused or being checked already." in refused
    assert '<p class="notice" role="status">' in done


def test_polling_a_paused_source_is_refused_as_an_error(staff):
    paused = source(paused_at=now())

    refused = flat(staff.post(f"/sources/{paused.pk}/poll", follow=True))

    assert '<p class="notice bad" role="alert">' in refused


def test_a_paused_tweet_offers_no_check_and_an_active_one_does(staff):
    paused, fresh = watched(paused=True), watched(1)

    assert "Check now" not in staff.get(f"/tweets/{paused.pk}/").content.decode()
    assert "Check now" in staff.get(f"/tweets/{fresh.pk}/").content.decode()


def test_the_ping_needs_no_database(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/answers/").status_code == 204
