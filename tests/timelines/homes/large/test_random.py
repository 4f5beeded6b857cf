"""Whatever happens, in whatever order: each strategy shows the home that is read from the sources.

And that one is what the sentence says, reckoned in memory.
"""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.timelines.homes.world import (
    assert_laid_out,
    assert_same,
    bring,
    built,
    configure,
    deliver_all,
    follower,
    source,
    tweet,
)
from trackers.arrivals.models import Arrival, Origin, TimelineDelivery
from trackers.ingest.sources import life
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.timelines import deliver, homes
from trackers.timelines.homes import nearby
from trackers.timelines.models import DeliveryMark, Follower
from trackers.tweets.models import Tweet
from tweetwatch.pieces import Deadline

SOURCES, WATCHERS, AUTHORS = range(4), range(2), (71, 72)
origins = st.one_of(st.sampled_from(SOURCES), st.sampled_from([-author for author in AUTHORS]))
# Counted ones, of which nobody knows the day, and two weeks of others.
ids = st.one_of(
    st.integers(1, 40),
    st.builds(tweet, st.integers(0, 13), st.integers(0, 5)),
)


class Homes(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.sources = [source() for _ in SOURCES]
        self.followers = [follower() for _ in WATCHERS]
        configure(
            strategy="read", bucket_size=10, bucket_days=1, depth=100, follow_backfill=5,
            cache_size=50, cache_slack=0, fanout_limit=None,
        )  # fmt: skip
        for me in self.followers:
            built(me)
        self.brought = {id: set() for id in self.sources}
        self.author, self.gone, self.follows = {}, set(), {id: set() for id in self.followers}

    @rule(of=st.sampled_from(SOURCES), ids=st.sets(ids, min_size=1, max_size=25),
          author=st.sampled_from(AUTHORS), described=st.booleans())  # fmt: skip
    def bring(self, of, ids, author, described):
        of = self.sources[of]
        if of is None:
            return
        # What was untracked is not tracked again by a source that brought it before.
        ids -= self.brought[of]
        if ids:
            bring(of, *ids, author=author, described=described)
        self.brought[of] |= ids
        for id in ids:
            if id not in self.author:
                self.author[id] = author if described else None

    @rule()
    def deliver(self):
        deliver_all()

    @rule(of=st.integers(0, 9))
    def deliver_a_page(self, of):
        known = sorted(Origin.objects.values_list("pk", flat=True))
        if known:
            deliver.deliver_from(known[of % len(known)], deadline=Deadline.after(0))

    @rule(who=st.sampled_from(WATCHERS), origin=origins)
    def follow(self, who, origin):
        if named := self.named(origin):
            me, id, given = self.followers[who], *named
            assert homes.follow(me, **given) == (id not in self.follows[me])
            self.follows[me].add(id)

    @rule(who=st.sampled_from(WATCHERS), origin=origins)
    def unfollow(self, who, origin):
        if named := self.named(origin):
            me, id, given = self.followers[who], *named
            assert homes.unfollow(me, **given) == (id in self.follows[me])
            self.follows[me].discard(id)

    def named(self, origin):
        if origin < 0:
            return origin, {"author_id": -origin}
        id = self.sources[origin]
        return id and (id, {"source_id": id})

    @rule(which=st.integers(0, 99))
    def delete(self, which):
        if self.author:
            id = sorted(self.author)[which % len(self.author)]
            Tweet.objects.filter(pk=id).update(gone_at="2026-11-20T00:00Z")
            self.gone.add(id)

    @rule()
    def come_back(self):
        Tweet.objects.update(gone_at=None)
        self.gone.clear()

    @rule(which=st.integers(0, 99))
    def untrack(self, which):
        if self.author:
            id = sorted(self.author)[which % len(self.author)]
            untrack_tweets([id])
            self.author.pop(id)
            self.gone.discard(id)

    @rule(which=st.sampled_from(SOURCES))
    def remove_a_source(self, which):
        if id := self.sources[which]:
            life.remove_sources([id])
            self.sources[which] = None
            self.brought.pop(id)
            for follows in self.follows.values():
                follows.discard(id)

    @rule(who=st.sampled_from(WATCHERS), key=st.sampled_from(["timed", "sized", "cache"]))
    def rebuild(self, who, key):
        homes.strategies()[key].rebuild(self.followers[who])

    @rule(who=st.sampled_from(WATCHERS))
    def idle(self, who):
        homes.drop_home(self.followers[who])

    @rule(who=st.sampled_from(WATCHERS), key=st.sampled_from(["timed", "sized", "cache", "read"]),
          days=st.integers(1, 3), limit=st.sampled_from([None, 1]))  # fmt: skip
    def switch(self, who, key, days, limit):
        configure(strategy=key, bucket_days=days, fanout_limit=limit)
        homes.rebuild(self.followers[who])

    @invariant()
    def same(self):
        for me in getattr(self, "followers", ()):
            assert assert_same(me, limit=7) == sorted(self.home(me), reverse=True)
            assert_laid_out(me)

    def home(self, me):
        for id in self.author.keys() - self.gone:
            by_source = any(id in self.brought.get(one, ()) for one in self.follows[me])
            if by_source or -(self.author[id] or 0) in self.follows[me]:
                yield id

    def teardown(self):
        Follower.objects.all().delete()
        life.remove_sources(id for id in getattr(self, "sources", ()) if id)
        untrack_tweets(Tweet.objects.values_list("pk", flat=True))
        for model in (Origin, Arrival, TimelineDelivery, DeliveryMark):
            model.objects.all().delete()


@pytest.mark.django_db
def test_every_strategy_shows_the_same_home_whatever_happens(monkeypatch):
    """So few are followed here that nobody would look near the anchor; but by each way they do."""
    monkeypatch.setattr(nearby, "MAX_READ_EACH", 0)
    monkeypatch.setattr(nearby, "MIN_READ_TOGETHER", 2)
    run_state_machine_as_test(
        Homes, settings=settings(max_examples=8, stateful_step_count=20, deadline=None)
    )
