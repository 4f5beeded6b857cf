"""The bench `screens` knows every address there is, and each answers in its world."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import resolve

from tests.access.test_matrix import NOBODY, matrix
from tests.benchmarks.screens import beside, fresh, world
from tests.benchmarks.screens.addresses import every
from tests.benchmarks.screens.asking import METRICS_KEY
from tests.benchmarks.screens.bench import SAMPLES
from tests.benchmarks.screens.looks import LONG_SAMPLES, usual
from trackers.tweets.history import history
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

# Forms about logging in, of django-allauth.
LOGGING_IN = ("/login/", "/password/", "/account/")
# Forms without a list, what is the same page for a team, and what is of one rule or
# of one act on many tweets, one note, one channel, or by a link in a message, of which the bench
# has none.
LEFT_OUT = {
    "/answers/", "/feeds/make/<int:follower>",
    "/subscribers/<int:id>/key",
    "/home/team/<int:team>/", "/tweets/many/", "/tweets/many/<int:id>/", "/alerts/<int:id>/",
    "/alerts/<int:id>/edit/", "/notes/<int:id>/edit/", "/alerts/channels/<int:id>/",
    "/alerts/channels/<int:id>/edit/", "/alerts/digest/end/<str:signed>/",
    "/alerts/mute/<str:key>/", "/today/",
}  # fmt: skip
TWEETS = 100


@pytest.fixture
def me():
    world.main(tweets=TWEETS)
    beside.main(tweets=TWEETS)
    return beside.enter()


def test_every_page_is_in_the_bench(me):
    pages = {
        route.partition("?")[0]
        for route, (get, _) in matrix().items()
        if get != NOBODY and not route.startswith(("/admin/", "/api/", *LOGGING_IN))
    }
    known = {f"/{resolve(one.path.partition('?')[0]).route}" for one in every(me)}
    assert pages - known == LEFT_OUT


@pytest.mark.more
@pytest.mark.timeout(900)
def test_every_address_of_the_bench_answers(me, settings):
    settings.SECURE_SSL_REDIRECT = False
    settings.METRICS_KEY = METRICS_KEY
    settings.API_RATE_LIMIT = 0
    fresh.main()
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(me.user)

    answers = {one.name: answered(browser, one, token=me.token) for one in every(me)}

    assert {name: answer for name, answer in answers.items() if answer != 200} == {}


def answered(browser, page_request, *, token):
    """Its status; 0 if nothing is in it."""
    is_api = page_request.kind == "api" or page_request.path.startswith("/api/")
    key = METRICS_KEY if page_request.path == "/metrics" else token
    headers = {"Authorization": f"Bearer {key}"} if is_api else {}
    answer = browser.get(page_request.path, headers=headers)
    first = next(iter(answer.streaming_content if answer.streaming else answer), b"")
    if page_request.kind == "admin" and answer.status_code == 302:
        # There is always one row.
        return 200
    return answer.status_code if first else 0


@pytest.mark.more
def test_its_samples_are_as_many_as_it_says_and_in_order():
    world.main(tweets=TWEETS)

    with cursor() as db:
        [samples] = db.execute(SAMPLES).fetchone()
    long = Tweet.objects.filter(came_from=world.CAME_FROM[True])
    assert [len(history(one.pk)) for one in long] == [LONG_SAMPLES] * world.LONG
    others = samples - world.LONG * LONG_SAMPLES
    assert TWEETS * len(usual()["begun"]) * 0.7 < others < TWEETS * len(usual()["begun"])
    some = history(Tweet.objects.order_by("pk").first().pk)
    assert [run.taken_at for run in some] == sorted({run.taken_at for run in some})
    assert [run.views for run in some] == sorted(run.views for run in some)
