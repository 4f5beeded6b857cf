"""Shares: who makes and ends them, what strangers see, and what X's terms hide."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.utils import timezone

from tests.factories import TweetFactory, figures
from tests.pages.sources import words
from trackers import history, tasks
from trackers.dashboards.shares import public
from trackers.notes.models import Note
from trackers.roles import OPERATOR, OWNER, VIEWER, give
from trackers.shares.acts import share, switch_sharing
from trackers.shares.look_up import look_up_shared
from trackers.shares.models import Share
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.record import Measured, record
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db
H, D = timedelta(hours=1), timedelta(days=1)


def account(role, name="op"):
    user = User.objects.create_user(name, password="a password of some length")
    give(user, role)
    return User.objects.get(pk=user.pk)


@pytest.fixture
def operator():
    assert Group.objects.filter(name=OPERATOR).exists()
    user = account(OPERATOR)
    switch_sharing(True, history.on_page(user))
    return user


@pytest.fixture
def tweet():
    author = Author.objects.create(id=7, username="vera", name="Vera")
    born = timezone.now() - 5 * H
    made = TweetFactory(id=77 << 22, author=author, created_at=born)
    TweetText.objects.create(tweet=made, text="A secret sentence", kind=6)
    for hours, views in ((1, 1000), (2, 2400), (4, 5000)):
        record([Measured(made.pk, born + hours * H, figures(100, views=views), D)])
    made.refresh_from_db()
    return made


def shared(user, tweet, **more):
    return share("tweet", str(tweet.pk), history.on_page(user), user, **more)


def test_strangers_see_figures_and_who_wrote_it_but_no_text(client, operator, tweet):
    Note.objects.create(kind="tweet", key=str(tweet.pk), at=timezone.now() - H, text="In the news")
    made = shared(operator, tweet, title="Our best week")

    answer = client.get(made.address)
    content = answer.content.decode()
    picture = client.get(f"{made.address}curve.svg").content.decode()

    assert answer.status_code == 200
    for part in ("Our best week", "Vera", "@vera", "View on X", "5,000", "Engagement rate",
                  f"https://x.com/vera/status/{tweet.pk}", "x-logo"):  # fmt: skip
        assert part in content
    for kept in ("secret sentence", "In the news", "op", "csv", "<script"):
        assert f" {kept}" not in content.replace("opener", "")
        assert "secret sentence" not in picture
        assert "In the news" not in picture
    assert answer["X-Robots-Tag"].startswith("noindex")
    assert "noindex" in content
    assert not answer.cookies
    assert "Cookie" not in answer.get("Vary", "")
    assert answer["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_notes_are_shown_if_that_was_ticked(client, operator, tweet):
    Note.objects.create(kind="tweet", key=str(tweet.pk), at=timezone.now() - 2 * H, text="News!")

    made = shared(operator, tweet, with_notes=True)

    assert "Note: News!" in client.get(f"{made.address}curve.svg").content.decode()


def test_pictures_have_an_etag_and_are_kept_for_five_minutes(client, operator, tweet):
    made = shared(operator, tweet)

    svg, png = (client.get(f"{made.address}curve.{form}") for form in ("svg", "png"))
    again = client.get(f"{made.address}curve.svg", headers={"If-None-Match": svg["ETag"]})

    assert (svg["Content-Type"], png["Content-Type"]) == ("image/svg+xml", "image/png")
    assert svg["Cache-Control"] == "public, max-age=300"
    assert again.status_code == 304
    assert client.get(f"{made.address}curve.csv").status_code == 404
    assert client.get(f"{made.address}other.svg").status_code == 404


def test_a_chart_is_embedded_by_sites_that_are_listed(client, operator, tweet):
    made = shared(operator, tweet)

    answer = client.get(f"{made.address}embed/")

    assert "X-Frame-Options" not in answer
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
    assert "View on X" in answer.content.decode()
    assert f"{made.address}curve.svg" in answer.content.decode()


def ended_by_person(made, tweet):
    Share.objects.filter(pk=made.pk).update(ended_at=timezone.now())


def out_of_time(made, tweet):
    Share.objects.filter(pk=made.pk).update(ends_at=timezone.now() - H)


def sharing_off(made, tweet):
    switch_sharing(False, history.on_page(made.made_by))


def less_of_a_role(made, tweet):
    give(made.made_by, VIEWER)


def account_off(made, tweet):
    User.objects.filter(pk=made.made_by_id).update(is_active=False)


def not_found(made, tweet):
    Tweet.objects.filter(pk=tweet.pk).update(missing_since=timezone.now())


def protected(made, tweet):
    Author.objects.filter(pk=7).update(protected=True)


def untracked(made, tweet):
    Tweet.objects.filter(pk=tweet.pk).delete()


@pytest.mark.parametrize(
    "end",
    [ended_by_person, out_of_time, sharing_off, less_of_a_role, account_off, not_found, protected,
     untracked],
)  # fmt: skip
def test_a_link_shows_nothing_once_it_has_ended_or_x_hides_the_tweet(client, operator, tweet, end):
    made = shared(operator, tweet)
    assert client.get(made.address).status_code == 200

    end(made, tweet)

    for path in ("", "embed/", "curve.svg"):
        answer = client.get(f"{made.address}{path}")
        assert (answer.status_code, answer["Cache-Control"]) == (404, "no-store")
        assert "Vera" not in answer.content.decode()


def test_an_unknown_key_is_answered_like_an_ended_one(client, operator):
    assert client.get("/s/nosuchkey/").status_code == 404


def test_each_opening_is_counted(client, operator, tweet):
    made = shared(operator, tweet)

    client.get(made.address)
    client.get(made.address)
    client.get(f"{made.address}curve.svg")

    made.refresh_from_db()
    assert made.seen == 2
    assert made.seen_at is not None


def test_one_address_that_asks_too_often_has_to_wait(client, operator, tweet, monkeypatch):
    made = shared(operator, tweet)
    monkeypatch.setattr(public, "_MOST_A_MINUTE", 2)

    answers = [client.get(made.address) for _ in range(6)]
    other = client.get(made.address, REMOTE_ADDR="192.0.2.9")

    assert {answer.status_code for answer in answers} == {200, 429}
    assert answers[-1]["Retry-After"] == "60"
    assert other.status_code == 200


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": "tweet", "of": "12"}, "not tracked"),
        ({"kind": "tweet", "of": "x"}, "named by its id"),
        ({"kind": "leaderboard", "of": "authors"}, "One of tweet, set"),
        ({"kind": "comparison", "of": "12"}, "2 to 6"),
        ({"kind": "comparison", "of": "9999999999999999999,12"}, "not tracked"),
        ({"kind": "tweet", "of": "9999999999999999999"}, "not tracked"),
        ({"kind": "comparison", "of": "1,2,3,4,5,6,7"}, "2 to 6"),
        ({"kind": "comparison", "of": "hashtag/moon,view/1"}, "a person's own"),
        ({"kind": "comparison", "of": "hashtag/moon,12"}, "no such set"),
        ({"kind": "comparison", "of": ",".join(["hashtag/moon"] * 7)}, "2 to 6"),
        ({"kind": "comparison", "of": ",".join(f"hashtag/{x * 90}" for x in "ab")}, "too long"),
        ({"kind": "tweet", "of": "1,2"}, "One tweet"),
        ({"kind": "set", "of": "view/1"}, "no such set"),
        ({"kind": "set", "of": "hashtag/"}, "no such set"),
        ({"days": 400}, "1 to 365"),
        ({"title": "a\nb"}, "one line"),
    ],
)
def test_a_refused_share_says_why(operator, tweet, given, why):
    asked = {"kind": "tweet", "of": str(tweet.pk)} | given
    with pytest.raises(ValidationError, match=why):
        share(asked.pop("kind"), asked.pop("of"), history.on_page(operator), operator, **asked)
    assert not Share.objects.exists()


def test_nothing_is_shared_while_sharing_is_off(operator, tweet):
    switch_sharing(False, history.on_page(operator))

    with pytest.raises(ValidationError, match="Sharing is off"):
        shared(operator, tweet)


def test_a_post_is_not_shared_before_its_author_has_a_name(operator, tweet):
    Author.objects.filter(pk=7).update(username="")

    with pytest.raises(ValidationError, match="not known yet who wrote"):
        shared(operator, tweet)


def test_a_protected_author_cannot_be_shared(operator, tweet):
    Author.objects.filter(pk=7).update(protected=True)

    with pytest.raises(ValidationError, match="protected"):
        shared(operator, tweet)
    with pytest.raises(ValidationError, match="protected"):
        share("set", "author/7", history.on_page(operator), operator)


def test_a_set_is_shared_as_figures_without_its_posts(client, operator, tweet):
    made = share("set", "author/7", history.on_page(operator), operator, query="period=24h")

    content = client.get(made.address).content.decode()

    assert "Posts" in content
    assert str(tweet.pk) not in content
    assert "secret sentence" not in content
    assert 'href="https://x.com/vera"' in content
    assert "View on X" in content
    assert client.get(f"{made.address}total.svg").status_code == 200


def test_a_comparison_shows_the_curves_of_its_tweets_alone(client, operator, tweet):
    born = timezone.now() - 6 * H
    other = TweetFactory(id=78 << 22, author_id=7, created_at=born)
    hidden_author = Author.objects.create(id=9, username="hidden", protected=True)
    hidden = TweetFactory(id=79 << 22, author=hidden_author, created_at=born)
    for one in (other, hidden):
        record([Measured(one.pk, born + H, figures(3, views=900), D)])
    query = f"ids={tweet.pk},{hidden.pk}&source=1&author=9"
    ids = f"{tweet.pk},{other.pk}"

    made = share("comparison", ids, history.on_page(operator), operator, query=query)
    content = client.get(made.address).content.decode()
    picture = client.get(f"{made.address}curves.svg").content.decode()

    assert content.count("View on X") == 2
    assert "@vera" in picture
    for kept in ("hidden", "secret sentence", str(hidden.pk)):
        assert kept not in content + picture
    with pytest.raises(ValidationError, match="protected"):
        share("comparison", f"{tweet.pk},{hidden.pk}", history.on_page(operator), operator)

    Tweet.objects.filter(pk=other.pk).update(missing_since=timezone.now())
    assert client.get(made.address).status_code == 404


def test_a_comparison_of_sets_shows_their_charts_alone(client, operator, tweet):
    sets = "author/7,hashtag/moon"

    made = share("comparison", sets, history.on_page(operator), operator, query="period=30d")
    content = client.get(made.address).content.decode()
    picture = client.get(f"{made.address}day.svg").content.decode()

    assert (made.tweet_ids, made.set_addresses) == ([], ["author/7", "hashtag/moon"])
    assert "@vera" in picture
    assert "#moon" in picture
    assert content.count("View on X") == 1
    assert client.get(f"{made.address}age.png").status_code == 200
    for kept in (str(tweet.pk), "secret sentence"):
        assert kept not in content + picture

    Author.objects.filter(pk=7).update(protected=True)
    assert client.get(made.address).status_code == 404


def test_shared_tweets_are_looked_up_daily_even_if_they_rest(operator, tweet):
    now = timezone.now()
    shared(operator, tweet)
    assert look_up_shared(now=now) == 0

    TweetUpdate.objects.all().delete()
    assert look_up_shared(now=now + 23 * H) == 1
    assert TweetUpdate.objects.filter(pk=tweet.pk).exists()

    TweetUpdate.objects.all().delete()
    Share.objects.update(ended_at=now)
    assert look_up_shared(now=now + 23 * H) == 0


def test_a_share_is_kept_for_three_months_after_its_end(operator, tweet):
    now = timezone.now()
    live, run_out, ended = (shared(operator, tweet) for _ in range(3))
    Share.objects.filter(pk=run_out.pk).update(ends_at=now - 91 * D)
    Share.objects.filter(pk=ended.pk).update(ended_at=now - 89 * D)

    tasks.look_up_shared()

    assert set(Share.objects.values_list("pk", flat=True)) == {live.pk, ended.pk}


def test_an_operator_shares_and_ends_from_pages_and_an_owner_turns_it_off(client, operator, tweet):
    client.force_login(operator)
    page = client.get(f"/tweets/{tweet.pk}/").content.decode()
    assert f"/shares/new/?kind=tweet&amp;of={tweet.pk}" in page

    form = client.get(f"/shares/new/?kind=tweet&of={tweet.pk}&query=range%3Dall")
    assert "looked up at least once a day" in form.content.decode()
    sent = {"kind": "tweet", "of": str(tweet.pk), "query": "range=all", "days": "7", "title": ""}
    assert client.post("/shares/new/", sent | {"days": "9"}).status_code == 400
    assert client.post("/shares/new/", sent).status_code == 302

    made = Share.objects.get()
    listed = client.get("/shares/").content.decode()
    assert made.address in listed
    assert "in 6 d 23 h" in words(listed)
    assert client.post("/shares/switch", {"is_on": "no"}).status_code == 403
    client.post(f"/shares/{made.pk}/end")
    assert client.get(made.address).status_code == 404

    client.force_login(account(OWNER, "boss"))
    client.post("/shares/switch", {"is_on": "no"})
    assert "Sharing is off" in client.get("/shares/").content.decode()


def test_a_viewer_cannot_share(client, operator, tweet):
    client.force_login(account(VIEWER, "reader"))

    assert client.get(f"/shares/new/?kind=tweet&of={tweet.pk}").status_code == 403
    assert client.get("/shares/").status_code == 200
