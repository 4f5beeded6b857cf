"""What came since: exactly what a page had not, late ones marked.

By a tweet alone it is that at the least: while some transaction on the server is under way for
long, that of another test for instance, what came beside the tweet is told as well.
"""

import pytest

from tests.timelines.homes.sessions import session
from tests.timelines.homes.world import bring, deliver_all, follower, source, store, tweet
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.timelines import homes
from trackers.timelines.homes import moment

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def home():
    """A follower, and two sources that are followed."""
    one, another, me = source(), source(), follower()
    homes.follow(me, source_id=one)
    homes.follow(me, source_id=another)
    return me, one, another


def ids_and_late(page):
    return page.ids, page.late


def test_since_returns_later_tweets_and_marks_late_ones(home):
    me, origin, another = home
    bring(origin, tweet(1), tweet(2))
    bring(another, tweet(5))
    clock = homes.home_page(me).clock
    bring(origin, tweet(6), tweet(3))
    bring(another, tweet(4))

    new = homes.home_since(me, tweet(5), clock=clock)
    assert ids_and_late(new) == ((tweet(6), tweet(4), tweet(3)), {tweet(3), tweet(4)})
    assert ids_and_late(homes.home_since(me, tweet(6), clock=new.clock)) == ((), set())
    assert set(new.ids) <= set(homes.home_since(me, tweet(5)).ids)
    assert set(homes.home_since(me).ids) == {tweet(day) for day in (1, 2, 3, 4, 5, 6)}


def test_since_returns_the_same_before_and_after_delivery(home):
    me, one, _ = home
    clock = homes.home_page(me).clock
    bring(one, tweet(1))
    before = homes.home_since(me, clock=clock)
    deliver_all()

    assert before.ids == homes.home_since(me, clock=clock).ids == (tweet(1),)
    assert homes.home_since(me, clock=before.clock).ids == ()


def test_since_leaves_out_tweets_already_there_by_another_source(home):
    me, one, another = home
    bring(one, tweet(1))
    clock = homes.home_page(me).clock
    bring(another, tweet(1), tweet(2))

    assert homes.home_since(me, clock=clock).ids == (tweet(2),)
    assert tweet(2) in homes.home_since(me, tweet(1)).ids


def test_since_leaves_out_tweets_of_new_follows_and_gone_tweets(home):
    me, origin, _ = home
    third = source()
    bring(third, tweet(1))
    clock = homes.home_page(me).clock
    homes.follow(me, source_id=third)
    bring(origin, tweet(2), tweet(3))
    untrack_tweets([tweet(2)])

    assert homes.home_since(me, clock=clock).ids == (tweet(3),)


def test_since_includes_tweets_committed_after_the_page_was_read(home):
    """Its number is lower than that of the tweet on the page."""
    me, one, another = home
    with session() as slow:
        slow.begin()
        slow.do(lambda: store(one, [tweet(1)]))
        # Of another author, whose row the first one does not hold.
        bring(another, tweet(2), author=8)
        page = homes.home_page(me)
        slow.commit()

    assert page.ids == (tweet(2),)
    assert ids_and_late(homes.home_since(me, tweet(2), clock=page.clock)) == (
        (tweet(1),),
        {tweet(1)},
    )
    assert tweet(1) in homes.home_since(me, tweet(2)).late


def test_an_unknown_clock_is_refused():
    for text in ("x", "1", "1/2", "1/2:1:", "1/1:3:7", "1/1:3:x", "-1/1:1:", "1/²:3:"):
        with pytest.raises(ValueError, match="not the clock of a page"):
            moment.parse(text)
