"""Feeds for readers elsewhere: what they hold, who reads them, and when they have changed."""

import json
import logging
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import timedelta
from email.utils import parsedate_to_datetime

import psycopg
import pytest
import requests
from django.contrib.auth.models import Group, Permission, User
from django.utils import timezone
from django.utils.http import http_date

from tests.conftest import PROJECT
from tests.flows.conftest import wait_until
from tests.timelines.homes.world import bring, source, tweet
from trackers import roles
from trackers.history import by_command
from trackers.timelines import homes
from trackers.timelines.followers import own
from trackers.timelines.models import Follower
from trackers.tokens import acts, feed_addresses
from trackers.tokens.models import FeedAddress, FeedState
from trackers.tokens.secret import digest_of
from trackers.tweets.models import Author, Tweet, TweetText

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
ADDRESS = re.compile(r"<code>http://testserver(/feeds/[\w-]{43}/home\.atom)</code>")


@pytest.fixture
def bob(db):
    """The follower of a viewer."""
    return own(person("bob"))


def person(name):
    user = User.objects.create_user(name)
    roles.give(user, roles.VIEWER)
    return user


@pytest.fixture
def secret(bob):
    return feed_addresses.make_address(bob.pk, bob.user_id, now=timezone.now())


@pytest.fixture
def three(bob):
    """A source that bob follows, and its three tweets, the newest first."""
    came_from, ids = source("nasa"), [tweet(1, n) for n in (3, 2, 1)]
    homes.follow(bob.pk, source_id=came_from)
    bring(came_from, *ids, author=42)
    Author.objects.filter(pk=42).update(username="nasa", name="NASA & <friends>")
    TweetText.objects.filter(tweet=ids[0]).update(text="Lift\x08off </p> &\ufffe\nnow ]]>")
    return came_from, ids


def delete(id):
    Tweet.objects.filter(pk=id).update(gone_at=timezone.now(), missing_reason="not_found")


def ids_of(answer):
    assert answer.status_code == 200, answer.content
    if answer["Content-Type"] == "application/feed+json":
        told = json.loads(answer.content)
        assert told["version"] == "https://jsonfeed.org/version/1.1"
        urls = [item["id"] for item in told["items"]]
    else:
        assert answer["Content-Type"] == "application/atom+xml; charset=utf-8"
        urls = [entry.findtext(f"{ATOM}id") for entry in ET.fromstring(answer.content)[3:]]
    return [int(url.rsplit("/", 1)[1]) for url in urls if url]


@pytest.mark.parametrize("form", ["atom", "json"])
def test_feeds_of_a_home_and_a_source_leave_out_deleted_tweets(client, secret, three, form):
    came_from, ids = three

    for path in ("home", f"sources/{came_from}"):
        assert ids_of(client.get(f"/feeds/{secret}/{path}.{form}")) == ids
    delete(ids[1])
    for path in ("home", f"sources/{came_from}"):
        assert ids_of(client.get(f"/feeds/{secret}/{path}.{form}")) == [ids[0], ids[2]]


def test_an_entry_is_valid_whatever_the_text_contains(client, secret, three):
    _, ids = three
    url = f"https://x.com/i/status/{ids[0]}"

    feed = ET.fromstring(client.get(f"/feeds/{secret}/home.atom").content)
    entry = feed.find(f"{ATOM}entry")
    texts = {one.tag.removeprefix(ATOM): one.text for one in entry if one.text}
    assert feed.findtext(f"{ATOM}title") == "Home of bob"
    assert texts["title"] == "NASA & <friends> (@nasa): Liftoff </p> & now ]]>"
    assert texts["summary"] == "Liftoff &lt;/p&gt; &amp;<br>now ]]&gt;"
    assert (texts["id"], entry.find(f"{ATOM}link").get("href")) == (url, url)
    assert texts["published"].startswith("2026-11-02T00:00:00")
    assert entry.findtext(f"{ATOM}author/{ATOM}name") == "NASA & <friends> (@nasa)"

    [first, *_] = client.get(f"/feeds/{secret}/home.json").json()["items"]
    assert first["content_text"] == "Lift\x08off </p> &\ufffe\nnow ]]>"
    assert first["authors"] == [{"name": "NASA & <friends> (@nasa)"}]


def test_an_edit_updates_an_entry_and_keeps_its_id(client, secret, three):
    _, ids = three
    before = first_entry(client, secret)
    Tweet.objects.filter(pk=ids[0]).update(newest=tweet(2, 3))

    after = first_entry(client, secret)

    assert [before[name] for name in ("id", "published")] == [
        after[name] for name in ("id", "published")
    ]
    assert before["updated"] == before["published"] < after["updated"]
    assert after["updated"].startswith("2026-11-03T00:00:00")
    [item, *_] = client.get(f"/feeds/{secret}/home.json").json()["items"]
    assert item["date_published"] < item["date_modified"]


def first_entry(client, secret):
    feed = ET.fromstring(client.get(f"/feeds/{secret}/home.atom").content)
    return {one.tag.removeprefix(ATOM): one.text for one in feed.find(f"{ATOM}entry")}


def test_a_feed_keeps_its_id_when_its_host_or_its_address_changes(
    client, bob, secret, three, settings
):
    came_from, _ = three
    settings.ALLOWED_HOSTS = ["*"]

    def ids(secret, **how):
        answers = [
            client.get(f"/feeds/{secret}/{path}.atom", **how)
            for path in ("home", f"sources/{came_from}")
        ]
        return [ET.fromstring(answer.content).findtext(f"{ATOM}id") for answer in answers]

    home, of_source = first = ids(secret)
    assert home.startswith("urn:uuid:")
    assert home != of_source
    assert ids(secret, secure=True, HTTP_HOST="watch.example") == first
    assert ids(feed_addresses.make_address(bob.pk, bob.user_id, now=timezone.now())) == first


def test_a_feed_does_not_contain_its_own_address(client, secret, three):
    for form in ("atom", "json"):
        answer = client.get(f"/feeds/{secret}/home.{form}")
        assert secret not in answer.content.decode()
        # Not as the page that a reader came from, either.
        assert answer["Referrer-Policy"] == "no-referrer"


def test_an_unchanged_feed_is_304(client, secret, three):
    came_from, ids = three
    path = f"/feeds/{secret}/sources/{came_from}.atom"
    client.get(path)
    FeedState.objects.update(changed_at=timezone.now() - timedelta(hours=1))
    first = client.get(path)
    by_tag = {"If-None-Match": first["ETag"]}
    by_time = {"If-Modified-Since": first["Last-Modified"]}

    for known in (by_tag, by_time):
        assert client.get(path, headers=known).status_code == 304
    delete(ids[0])
    for known in (by_tag, by_time):
        assert ids_of(client.get(path, headers=known)) == ids[1:]
    again = client.get(path)
    assert parsedate_to_datetime(again["Last-Modified"]) > parsedate_to_datetime(
        first["Last-Modified"]
    )
    assert client.get(path, headers={"If-None-Match": again["ETag"]}).status_code == 304
    marked = again["ETag"].removesuffix('"') + '-br"'
    assert client.get(path, headers={"If-None-Match": marked}).status_code == 304


def test_two_changes_within_a_second_have_different_etags(client, secret, three):
    _, ids = three
    path = f"/feeds/{secret}/home.json"
    client.get(path)
    FeedState.objects.update(changed_at=(soon := timezone.now() + timedelta(seconds=60)))

    delete(ids[0])
    answer = client.get(path, headers={"If-Modified-Since": http_date(soon.timestamp())})

    assert ids_of(answer) == ids[1:]
    assert not answer.has_header("Last-Modified")


def test_an_address_ends_when_it_is_revoked_or_replaced(client, bob, secret):
    paths = ("home.atom", "home.json")

    def status(secret):
        return {client.get(f"/feeds/{secret}/{path}").status_code for path in paths}

    assert (status(secret), status("x" * 43), status("²")) == ({200}, {404}, {404})

    newer = feed_addresses.make_address(bob.pk, bob.user_id, now=timezone.now())
    assert (status(secret), status(newer)) == ({404}, {200})
    bob.user.is_active = False
    bob.user.save()
    assert status(newer) == {404}
    bob.user.is_active = True
    bob.user.save()
    addresses = list(bob.addresses.all())
    assert acts.revoke_addresses(addresses, by_command()).count == 1
    assert status(newer) == {404}
    assert not acts.revoke_addresses(addresses, by_command()).is_done


def test_an_address_reads_what_its_person_may_see_now(client, bob, secret, three):
    home, of_source = (f"/feeds/{secret}/{path}.atom" for path in ("home", f"sources/{three[0]}"))

    def status():
        return [client.get(path).status_code for path in (home, of_source)]

    assert status() == [200, 200]
    roles.take(bob.user)
    assert status() == [404, 404]
    for codename, answers in (("view_tweet", [200, 404]), ("view_source", [404, 200])):
        bob.user.user_permissions.set([Permission.objects.get(codename=codename)])
        assert status() == answers


@pytest.mark.parametrize("leave", ["remove", "set", "clear", "by the team", "team clears"])
def test_each_member_of_a_team_has_an_address_of_its_home_and_leaving_ends_it(client, db, leave):
    desk, crew = (Group.objects.create(name=name) for name in ("desk", "crew"))
    team, *_ = (Follower.objects.create(team=group) for group in (desk, crew))
    ann, ben = person("ann"), person("ben")
    for user in (ann, ben):
        user.groups.add(desk, crew)
    of_ann, of_ben = (
        feed_addresses.make_address(team.pk, user.pk, now=timezone.now()) for user in (ann, ben)
    )

    def status():
        return [client.get(f"/feeds/{one}/home.atom").status_code for one in (of_ann, of_ben)]

    assert status() == [200, 200]
    ann.groups.remove(crew)
    assert status() == [200, 200]
    {
        "remove": lambda: ann.groups.remove(desk),
        "set": lambda: ann.groups.set([Group.objects.get(name=roles.VIEWER)]),
        "clear": lambda: ann.groups.clear(),
        "by the team": lambda: desk.user_set.remove(ann),
        "team clears": lambda: desk.user_set.clear(),
    }[leave]()
    assert status()[0] == 404
    roles.give(ann, roles.VIEWER)
    ann.groups.add(desk)

    assert status() == [404, 404 if leave == "team clears" else 200]


def test_a_home_that_is_no_longer_a_persons_is_not_read_though_its_address_is_there(client, db):
    team = Follower.objects.create(team=Group.objects.create(name="desk"))
    secret = feed_addresses.make_address(team.pk, person("ann").pk, now=timezone.now())

    assert client.get(f"/feeds/{secret}/home.atom").status_code == 404


def test_unknown_sources_have_no_feed(client, secret):
    for id in (1, 2**63):
        assert client.get(f"/feeds/{secret}/sources/{id}.json").status_code == 404


def test_people_create_and_revoke_only_addresses_of_their_own_homes(staff, bob):
    page = staff.get("/feeds/").content.decode()
    assert "No address yet." in page
    mine = Follower.objects.exclude(pk=bob.pk).get()

    told = staff.post(f"/feeds/make/{mine.pk}")
    [path] = ADDRESS.findall(told.content.decode())
    assert "no-store" in told["Cache-Control"]
    assert staff.get(path).status_code == 200
    secret = path.split("/")[2]
    assert FeedAddress.objects.get().digest == digest_of(secret)
    assert secret not in staff.get("/feeds/").content.decode()
    # Whoever presses Enter in the browser's address line.
    assert staff.get(f"/feeds/make/{mine.pk}").headers["Location"] == "/feeds/"
    assert staff.get(path).status_code == 200

    staff.post(f"/feeds/revoke/{mine.pk}", {"sure": "yes"})
    assert staff.get(path).status_code == 404
    for act in ("make", "revoke"):
        assert staff.post(f"/feeds/{act}/{bob.pk}").status_code == 404
    assert not FeedAddress.objects.exists()


def test_members_of_a_team_neither_see_nor_revoke_each_others_addresses(staff):
    desk, ben = Group.objects.create(name="desk"), person("ben")
    team = Follower.objects.create(team=desk)
    for user in User.objects.filter(username__in=("ada", "ben")):
        user.groups.add(desk)
    secret = feed_addresses.make_address(team.pk, ben.pk, now=timezone.now())

    assert "Address created" not in staff.get("/feeds/").content.decode()
    staff.post(f"/feeds/revoke/{team.pk}", {"sure": "yes"})
    assert "as Atom" in staff.post(f"/feeds/make/{team.pk}").content.decode()

    assert staff.get(f"/feeds/{secret}/home.atom").status_code == 200


def test_an_unread_home_of_a_team_can_have_an_address(staff):
    User.objects.get().groups.add(Group.objects.create(name="desk"))

    page = staff.get("/feeds/").content.decode()

    assert page.index("<h2>Home</h2>") < page.index("<h2>desk</h2>")
    team = Follower.objects.get(team__name="desk")
    assert "desk, as Atom" in staff.post(f"/feeds/make/{team.pk}").content.decode()


def test_the_feed_of_a_source_takes_as_many_queries_for_any_number_of_tweets(
    client, secret, three, django_assert_num_queries
):
    came_from, _ = three
    path = f"/feeds/{secret}/sources/{came_from}.atom"
    client.get(path)

    # The address, what its person may, and which homes (2 each); the source, its newest ids, which
    # are there, the tweets; and since when.
    with django_assert_num_queries(10):
        client.get(path)


def test_log_lines_of_a_feed_have_no_secret(client, secret, caplog):
    caplog.set_level(logging.DEBUG)
    client.get(f"/feeds/{secret}/sources/1.atom")
    client.post(f"/feeds/{secret}/home.atom")
    client.get(f"/feeds/{secret}/nothing")
    asked = {"r": f"GET /Feeds%2f{secret}?a HTTP/1.1"}
    logging.getLogger("gunicorn.access").warning("%(r)s", asked)

    text = caplog.text
    assert "Not Found: /feeds/…/sources/1.atom" in text
    assert "Method Not Allowed (POST): /feeds/…/home.atom" in text
    assert "GET /Feeds%2f…?a HTTP/1.1" in text
    assert secret not in text


@pytest.mark.django_db(transaction=True)
def test_the_log_of_a_real_server_has_no_secret(fresh_database, tmp_path):
    """With gunicorn's access log, which is off unless somebody wants it."""
    secret = "S" * 43
    command = [sys.executable, "-m", "gunicorn", "tweetwatch.wsgi", "--bind=127.0.0.1:0"]
    log = tmp_path / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [*command, "--access-logfile=-", "--no-control-socket"],
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": fresh_database, "HTTPS": "false"},
            stdout=out,
            stderr=out,
        )
    try:
        port = wait_for(log, r"Listening at: http://127\.0\.0\.1:(\d+)")
        answer = requests.get(f"http://127.0.0.1:{port}/feeds/{secret}/home.atom", timeout=60)
        assert answer.status_code == 404
        wait_for(log, r'"GET /feeds/(…)/home\.atom HTTP/1\.1" 404')
    finally:
        server.terminate()
        server.wait(60)
    assert secret not in log.read_text()
    with psycopg.connect(fresh_database) as db:
        assert db.execute("SELECT count(*) FROM trackers_feedaddress").fetchone() == (0,)


def wait_for(log, pattern):
    wait_until(lambda: re.search(pattern, log.read_text()), what=f"the log has {pattern}")
    return re.search(pattern, log.read_text())[1]
