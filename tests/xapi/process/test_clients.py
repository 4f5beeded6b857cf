"""Clients of X that others wrote, against the fake: they read what they would read of X."""

import threading

import pytest
import tweepy
from requests.adapters import HTTPAdapter

from tests.x import wait_until
from tests.xapi.openapi.documented_fake import APP, LIST, NO_POST, QUERY, USER, DocumentedFake
from tests.xapi.openapi.known import known_as

X = "https://api.twitter.com"
POSTS = 30


class ToFake(HTTPAdapter):
    """Sends what is for X to the fake."""

    def __init__(self, url):
        super().__init__()
        self._url = url

    def send(self, request, **options):
        request.url = self._url + request.path_url
        return super().send(request, **options)


@pytest.fixture
def x(request, fakex):
    x = DocumentedFake(fakex, request.param)
    fakex.put("world", {"search_newest_s": 0})
    x.release(count=POSTS, rate=1e6)
    wait_until(lambda: len(x.visible()) == POSTS)
    yield x
    x.close()


def answers_are_known(x):
    """Whatever was answered is as documented, or as X is known to differ."""
    lines = {line for one in x.relay.exchanges for line in x.document.differences(one)}
    return [
        line for line in lines if " asked" not in line and not known_as(line, x.document.version)
    ] == []


in_tweet_fields = pytest.mark.parametrize("x", ["2.166"], indirect=True)


@in_tweet_fields
def test_tweepy_reads_posts_users_pages_lists_and_a_stream(x):
    client = tweepy.Client(APP)
    client.session.mount(X, ToFake(x.relay.url))
    ids, by_search = x.visible(), x.visible(query=QUERY)

    reply = client.get_tweets(
        [*ids[:50], NO_POST],
        tweet_fields=["public_metrics", "created_at"],
        expansions=["author_id"],
    )
    assert [str(tweet.id) for tweet in reply.data] == ids[:50]
    assert reply.data[0].public_metrics["like_count"] >= 0
    assert str(reply.includes["users"][0].id) == x.author["id"]
    assert reply.errors[0]["title"] == "Not Found Error"
    assert str(client.get_tweet(ids[0]).data.id) == ids[0]
    names = [person["username"] for person in x.people]
    shown = client.get_users(usernames=names).data
    assert {user.username for user in shown} < {*names}
    assert str(client.get_user(username=x.author["username"]).data.id) == x.author["id"]
    assert str(client.get_user(id=x.author["id"]).data.id) == x.author["id"]
    me = tweepy.Client(USER)
    me.session.mount(X, ToFake(x.relay.url))
    assert me.get_me(user_auth=False).data.id

    def read(method, *arguments, **options):
        pages = tweepy.Paginator(method, *arguments, **options)
        return [str(tweet.id) for tweet in pages.flatten()]

    assert read(client.search_recent_tweets, QUERY, max_results=10) == by_search
    assert read(client.search_all_tweets, QUERY, max_results=500) == by_search
    counted = client.get_recent_tweets_count(QUERY)
    assert sum(bucket["tweet_count"] for bucket in counted.data) == len(by_search)
    assert read(client.get_users_tweets, x.author["id"], max_results=7)[:POSTS] == ids
    assert read(client.get_list_tweets, LIST, max_results=7)[:POSTS] == ids
    assert client.get_list(LIST).data.name
    read(client.get_users_mentions, x.author["id"])

    class Stream(tweepy.StreamingClient):
        def on_tweet(self, tweet):
            streamed.append(tweet.id)

    streamed = []
    stream = Stream(APP)
    stream.session.mount(X, ToFake(x.relay.url))
    rules = [tweepy.StreamRule(QUERY, "moon"), tweepy.StreamRule("from:nobody1")]
    assert len(stream.add_rules(rules, dry_run=True).data) == 2
    added = stream.add_rules(rules).data
    assert [rule.value for rule in stream.get_rules().data] == [QUERY, "from:nobody1"]
    stream.delete_rules([added[1].id])
    thread = stream.filter(tweet_fields=["public_metrics"], threaded=True)
    wait_until(x.has_stream)
    x.release(count=POSTS, rate=1e6)
    wait_until(lambda: len(streamed) == POSTS)
    stream.disconnect()
    x.fakex.tell("POST", "stream/close")
    thread.join(60)
    assert answers_are_known(x)


@in_tweet_fields
def test_twarc_reads_posts_users_pages_lists_and_a_stream(x):
    import twarc

    client = twarc.Twarc2(bearer_token=APP, metadata=False)
    client.client.mount(X, ToFake(x.relay.url))
    ids, by_search = x.visible(), x.visible(query=QUERY)

    def read(pages):
        return [post["id"] for page in pages for post in page.get("data", ())]

    assert read(client.tweet_lookup([*ids, NO_POST])) == ids
    assert {user["id"] for user in next(client.user_lookup([x.author["id"]]))["data"]}
    [page] = client.user_lookup([x.author["username"]], usernames=True)
    assert page["data"][0]["id"] == x.author["id"]
    assert read(client.search_recent(QUERY, max_results=10)) == by_search
    counts = client.counts_recent(QUERY)
    assert sum(bucket["tweet_count"] for page in counts for bucket in page["data"]) == len(
        by_search
    )
    assert read(client.timeline(x.author["id"], max_results=7))[:POSTS] == ids
    read(client.mentions(x.author["id"]))
    assert read(client.list_tweets(LIST, max_results=7))[:POSTS] == ids
    assert client.list_lookup(LIST)["data"]["name"]

    added = client.add_stream_rules([{"value": QUERY, "tag": "moon"}])
    assert client.get_stream_rules()["data"] == added["data"]
    streamed, event = [], threading.Event()

    def listen():
        streamed.extend(post["data"]["id"] for post in client.stream(event))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    wait_until(x.has_stream)
    x.release(count=POSTS, rate=1e6)
    wait_until(lambda: len(streamed) == POSTS)
    event.set()
    x.release(count=1, rate=1e6)  # it looks at the event at a line only
    thread.join(60)
    assert not thread.is_alive()
    client.delete_stream_rule_ids([added["data"][0]["id"]])
    assert answers_are_known(x)


@pytest.mark.parametrize("x", ["2.167"], indirect=True)
def test_xdk_reads_posts_users_pages_lists_and_a_stream(x):
    """X's own client, whose models are those of document 2.167."""
    # Here, since importing its models takes a second.
    import xdk

    client = xdk.Client(base_url=x.relay.url, bearer_token=APP)
    ids, by_search = x.visible(), x.visible(query=QUERY)
    fields = ["public_metrics", "created_at"]

    def read(pages):
        return [post.id for page in pages for post in page.data or ()]

    posts = client.posts.get_by_ids([*ids, NO_POST], post_fields=fields, expansions=["author_id"])
    assert [post.id for post in posts.data] == ids
    assert posts.data[0].public_metrics.repost_count >= 0
    assert client.posts.get_by_id(ids[0], post_fields=fields).data.id == ids[0]
    assert client.users.get_by_ids([x.author["id"]]).data[0].id == x.author["id"]
    users = client.users.get_by_usernames([x.author["username"]], user_fields=["public_metrics"])
    assert users.data[0].public_metrics.post_count >= 0
    assert client.users.get_by_username(x.author["username"]).data.id == x.author["id"]
    assert client.users.get_by_id(x.author["id"]).data.id == x.author["id"]
    me = xdk.Client(base_url=x.relay.url, access_token=USER)
    assert me.users.get_me().data.id
    assert read(client.posts.search_recent(QUERY, max_results=10)) == by_search
    assert read(client.posts.search_all(QUERY)) == by_search
    [page] = client.posts.get_counts_recent(QUERY)
    assert sum(bucket.post_count for bucket in page.data) == len(by_search)
    assert read(client.users.get_posts(x.author["id"], max_results=7))[:POSTS] == ids
    read(client.users.get_mentions(x.author["id"]))
    assert read(client.lists.get_posts(LIST, max_results=7))[:POSTS] == ids
    assert client.lists.get_by_id(LIST).data.name
    assert client.usage.get().data.project_cap

    client.stream.update_rules(
        xdk.stream.models.UpdateRulesRequest.model_validate(
            {"add": [{"value": QUERY, "tag": "moon"}]}
        )
    )
    assert [page.data for page in client.stream.get_rules()]
    assert client.stream.get_rule_counts().data
    streamed = []

    def listen():
        for post in client.stream.posts():
            streamed.append(post.data)
            if len(streamed) == POSTS:
                return

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    wait_until(x.has_stream)
    counted = client.connections.get_connection_history(endpoints=["filtered_stream"])
    assert next(iter(counted)).data[0].id
    x.release(count=POSTS, rate=1e6)
    thread.join(60)
    assert len(streamed) == POSTS
    assert answers_are_known(x)
