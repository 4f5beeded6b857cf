"""Each way in notes what came, in the transaction that stores it, and in an order that holds."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from tests.factories import ProjectFactory, post
from tests.ingest.files.uploads import A, B, imported
from tests.ingest.polls.steps import accounts, add, connect, poll, release, yielded
from tests.queues import set_due
from tests.timelines.homes.sessions import session
from tests.timelines.homes.world import (
    bring,
    built,
    configure,
    deliver_all,
    follower,
    source,
    store,
    tweet,
)
from tests.updater.process.test_refresh import refresh, shown_of, turn_clock, x
from trackers.arrivals.arrive import arrive
from trackers.arrivals.models import Arrival, Origin, TimelineDelivery
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.sources.models import Source
from trackers.ingest.stream import store as stream
from trackers.ingest.stream.lease import take_lease
from trackers.ingest.stream.lines import StreamBatch
from trackers.ingest.stream.listeners import Listeners, wanted_now
from trackers.ingest.stream.settings import Margins
from trackers.ingest.track import track
from trackers.timelines import homes
from trackers.timelines.models import Follow
from trackers.tweets.models import Author
from tweetwatch.database import cursor

__all__ = ["x"]

pytestmark = pytest.mark.django_db(transaction=True)


def arrived():
    return set(Arrival.objects.values_list("origin_id", "tweet_id"))


def waiting():
    return set(TimelineDelivery.objects.values_list("key", flat=True))


def test_a_poll_records_arrivals_of_new_posts(fakex, settings):
    x = connect(fakex, settings)
    [(_, username)] = accounts(x, 1)
    polled, me = add("account", username), follower()
    homes.follow(me, source_id=polled.pk)

    configure(async_threshold=0)
    release(x, count=5, authors=[accounts(x, 1)[0][0]])
    poll(polled)
    before = arrived()
    poll(polled)

    assert len(before) >= 5
    assert arrived() == before == {(polled.pk, id) for id in yielded(polled)}
    assert waiting() == {polled.pk}
    assert set(homes.home_page(me, limit=800).ids) == yielded(polled)


def test_a_poll_delivers_itself_to_few_followers(fakex, settings):
    x = connect(fakex, settings)
    [(_, username)] = accounts(x, 1)
    polled, followers = add("account", username), [follower() for _ in range(3)]
    configure(async_threshold=2)
    sized = homes.strategies()["sized"]
    for me in followers[:2]:
        homes.follow(me, source_id=polled.pk)
        sized.rebuild(me)

    poll(polled)
    assert set(sized.held(followers[0])) == yielded(polled) != set()
    assert waiting() == set()

    homes.follow(followers[2], source_id=polled.pk)
    release(x, count=5, authors=[accounts(x, 1)[0][0]])
    poll(polled)
    assert set(sized.held(followers[0])) < yielded(polled)
    assert waiting() == {polled.pk}


def test_the_stream_records_arrivals_of_its_sources_and_followed_accounts():
    project = ProjectFactory()
    rules = [Source.objects.create(kind="stream", of=of) for of in ("#moon", "#sun")]
    me, lease = follower(), take_lease(timedelta(minutes=5))
    homes.follow(me, source_id=rules[0].pk)
    homes.follow(me, author_id=77)
    posts = [post(tweet(1), author_id=77), post(tweet(2), author_id=78)]
    batch = StreamBatch(
        posts={one.id: FoundTweet(one.id, one, timezone.now()) for one in posts},
        sources={tweet(1): (rules[0].pk, rules[1].pk), tweet(2): (rules[1].pk,)},
        lines=2,
    )

    for _ in range(2):
        stream.store(
            batch, lease, Listeners(wanted_now()), Margins(timedelta(0), timedelta(0)),
            project=project.pk, x_now=datetime.now(UTC),
        )  # fmt: skip

    assert arrived() == {(rules[0].pk, tweet(1)), (-77, tweet(1))}
    assert waiting() == {rules[0].pk, -77}


def test_an_import_records_arrivals_of_its_parts():
    report = imported(f"{A}\n")
    me = follower()
    homes.follow(me, source_id=report.source_id)
    bring(source(), B)

    again = imported(f"{A}\n{B}\n")
    homes.follow(me, source_id=again.source_id)
    assert arrived() == set()
    assert homes.home_page(me).ids == (B, A)


def test_an_account_is_known_once_the_tweet_is_described(x):
    """An import brought the bare id."""
    [id] = shown_of(x, 1)
    me = follower()
    list(track([FoundTweet(id)], came_from="a file"))
    author = int(x.get(f"tweets/{id}")["author_id"])
    homes.follow(me, author_id=author)
    homes.strategies()["sized"].rebuild(me)
    assert homes.home_page(me).ids == ()

    turn_clock(timedelta(minutes=1))
    refresh()

    assert arrived() == {(-author, id)}
    deliver_all()
    assert homes.strategies()["sized"].page(me).ids == (id,)
    assert homes.home_page(me).ids == (id,)


def test_arrivals_of_a_source_commit_in_the_order_of_their_numbers():
    """The second session must not be numbered, and read, before the first has committed."""
    origin, me = source(), follower()
    homes.follow(me, source_id=origin)
    with session() as first, session() as second:
        first.begin()
        first.do(lambda: store(origin, [tweet(1)]))
        second.start(lambda: bring(origin, tweet(2)))
        second.waits()

        assert not Arrival.objects.exists()
        first.commit()
        second.end()

    assert list(Arrival.objects.order_by("number").values_list("tweet_id", flat=True)) == [
        tweet(1),
        tweet(2),
    ]


def test_the_number_of_an_arrival_is_drawn_under_the_lock_of_its_source():
    """Else it could be committed, and read behind, before a lower one."""
    origin, me = source(), follower()
    homes.follow(me, source_id=origin)
    before = last_number()
    with session() as holding, session() as storing:
        holding.begin()
        holding.do(lambda: Origin.objects.select_for_update().get(pk=origin))
        storing.start(lambda: arrive([(origin, tweet(1))]))
        storing.waits()
        assert last_number() == before
        holding.commit()
        storing.end()

    assert last_number() != before


def last_number():
    with cursor() as db:
        query = "SELECT last_value, is_called FROM trackers_arrival_number"
        return db.execute(query).fetchone()


@pytest.mark.parametrize("named", ["source_id", "author_id", "new author_id"])
def test_a_new_follower_misses_no_tweet_being_stored(named):
    first_source, me = source(), follower()
    if named == "author_id":
        Author.objects.create(pk=77)
    strategies = homes.strategies()
    for key in strategies:
        strategies[key].rebuild(me)
    with session() as storing, session() as following:
        storing.begin()
        storing.do(lambda: store(first_source, [tweet(1)], author=77))
        origin = {"source_id": first_source} if named == "source_id" else {"author_id": 77}
        following.start(lambda: homes.follow(me, **origin))
        following.waits()
        storing.commit()
        following.end()

    deliver_all()
    assert [strategies[key].page(me).ids for key in strategies] == [(tweet(1),)] * len(strategies)


def test_an_unfollow_waits_for_a_running_delivery():
    """Else it would put back what was taken out."""
    origin, me = source(), follower()
    homes.follow(me, source_id=origin)
    sized = homes.strategies()["sized"]
    sized.rebuild(me)
    bring(origin, tweet(1))
    with session() as delivering, session() as unfollowing:
        delivering.begin()
        delivering.do(deliver_all)
        unfollowing.start(lambda: homes.unfollow(me, source_id=origin))
        unfollowing.waits()
        delivering.commit()
        assert unfollowing.end()

    assert sized.held(me) == []
    assert not Follow.objects.exists()
    assert sized.page(me).served_by == "buckets"


def test_a_delivery_waits_for_a_running_unfollow():
    """Else it would put in for whom it saw following, when they are through."""
    origin, me, another = source(), follower(), follower()
    sized = homes.strategies()["sized"]
    for who in (me, another):
        homes.follow(who, source_id=origin)
        sized.rebuild(who)
    bring(origin, tweet(1))
    with session() as unfollowing, session() as delivering:
        unfollowing.begin()
        unfollowing.do(lambda: homes.unfollow(me, source_id=origin))
        assert delivering.do(deliver_all)[0].is_elsewhere
        unfollowing.commit()

    assert waiting() == {origin}
    set_due(TimelineDelivery, timezone.now())
    deliver_all()
    assert (sized.held(me), sized.held(another)) == ([], [tweet(1)])


def test_a_home_being_built_gets_concurrent_deliveries():
    """Whoever builds it has read the sources before the tweet came."""
    origin, me = source(), follower()
    homes.follow(me, source_id=origin)
    sized = homes.strategies()["sized"]
    bring(origin, tweet(1))
    sized.begin(me)
    with session() as building, session() as delivering:
        building.begin()
        building.do(lambda: sized.build(me))
        bring(origin, tweet(2))
        delivering.start(deliver_all)
        delivering.waits()
        building.commit()
        delivering.end()

    assert sized.held(me) == [tweet(1), tweet(2)]
    assert sized.page(me).ids == (tweet(2), tweet(1))


def test_a_page_of_a_home_being_rebuilt_is_read_from_the_sources():
    """It had been told that the home is laid out, and found nothing there."""
    one, me = source(), follower()
    homes.follow(me, source_id=one)
    bring(one, tweet(1), tweet(2))
    sized = built(me, "sized")["sized"]
    with session() as beginning, session() as reading:
        beginning.begin()
        beginning.do(lambda: execute("LOCK TABLE trackers_sizedbucket IN ACCESS EXCLUSIVE MODE"))
        reading.start(lambda: sized.page(me))
        reading.waits()
        beginning.do(lambda: execute("UPDATE trackers_builthome SET built_at = NULL"))
        beginning.do(lambda: sized.clear(me))
        beginning.commit()
        page = reading.end()

    assert (page.ids, page.served_by) == ((tweet(2), tweet(1)), "read(fallback)")


def execute(statement):
    with cursor() as db:
        db.execute(statement, prepare=False)


def test_a_home_is_not_built_in_an_open_transaction():
    """What came until its end could neither be read nor would be delivered into it."""
    with transaction.atomic(), pytest.raises(RuntimeError):
        homes.strategies()["sized"].rebuild(follower())
