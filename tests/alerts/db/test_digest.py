"""A person's own e-mail: figures beside those before, pictures, and one click to end it."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from tests.alerts.conftest import rule
from tests.alerts.mail_servers import Box, listening
from tests.channels.sending import channel
from tests.factories import TweetFactory
from trackers.alerts import acts, mail, notice, view_posts
from trackers.alerts.digest import make_digests
from trackers.alerts.models import AlertDigest, AlertMail, AlertNotice, AlertPicture
from trackers.channels.models import Channel, ChannelMessage
from trackers.history import on_page
from trackers.outbox.findings import News, Observation
from trackers.saved_views.models import SavedView
from trackers.scores.models import Score
from trackers.tokens.models import TimeFormat
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.checkpoints.models import PackedCheckpoints
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS, Author, Tweet, TweetText
from trackers.tweets.snowflake import first_id_at
from tweetwatch.pieces import Deadline
from tweetwatch.time_limits import TookTooLong

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LOGS = ("/alerts/", "/alerts/log/", "/admin/trackers/alertnotice/")
PUBLIC = "https://watch.example"
NEPAL = ZoneInfo("Asia/Kathmandu")
# Monday, 7:00 in Kathmandu.
MONDAY = datetime(2026, 3, 9, 7, tzinfo=NEPAL)


@pytest.fixture
def vera():
    user = User.objects.create_superuser("vera", "vera@here.example", "secret")
    TimeFormat.objects.create(user=user, zone="Asia/Kathmandu", dates="dmy", hours=24)
    return user


def post(at, views, *, author=42, text="To the moon"):
    Author.objects.get_or_create(id=author, defaults={"username": f"a{author}"})
    id = first_id_at(int(at.timestamp() * 1000)) + TweetText.objects.count()
    tweet = TweetFactory(id=id, author_id=author, created_at=at.astimezone(UTC))
    TweetText.objects.create(tweet=tweet, text=text, kind=PostKind.TEXT)
    counts = {metric: [views // 10] * 2 for metric in METRICS} | {"views": [views] * 2}
    PackedCheckpoints.objects.create(
        tweet_id=tweet.pk, ages=[AGES.index(age) + 1 for age in (HOUR, DAY)], **counts
    )
    return tweet


def digest(user, **given):
    return AlertDigest.objects.create(user=user, when_quiet=True, **given)


def make(now):
    return make_digests(public_url=PUBLIC, now=now.astimezone(UTC))


def sent():
    """The e-mails that a server took."""
    box = Box()
    with listening(box) as server:
        mail.send(server, public_url=PUBLIC, deadline=Deadline.after(30))
    return box.got


def test_a_week_of_an_author_stands_beside_the_week_before(vera):
    first = MONDAY - timedelta(days=7)
    posts = [post(first + timedelta(days=day, hours=3), 1000 * (day + 1)) for day in range(5)]
    # Before Monday's midnight in Kathmandu: it belongs to the week before.
    post(first.replace(hour=0) - timedelta(minutes=1), 70)
    post(first - timedelta(days=2), 500)
    post(first + timedelta(days=1), 9_000_000, author=43)
    digest(vera, every="week", report="author/42")

    assert make(MONDAY) == 1
    [message] = sent()

    assert message["Subject"] == "[tweetwatch] Your week until 9 Mar 2026 07:00 UTC+5:45"
    assert message.get_content_type() == "multipart/alternative"
    plain, related = message.iter_parts()
    text = plain.get_content().replace("\r\n", "\n")
    assert (
        "@a42\n----\n2 Mar 2026 to 8 Mar 2026, against the 7 days before, the same weekdays."
        in text
    )
    assert "Posts: 5 (before 2, +3, 150 %)" in text
    assert "Views, all at 24 h: 15K (before 500, +2,900 %)" in text
    assert f"5,000 views: @a42: To the moon {PUBLIC}/tweets/{posts[4].pk}/" in text
    assert f"{PUBLIC}/sets/author/42/?from=2026-03-02&until=2026-03-08&age=24h" in text
    assert "None in the last 7 days." in text
    assert related.get_content_type() == "multipart/related"
    html, *pictures = related.iter_parts()
    markup = html.get_content()
    for picture in pictures:
        assert picture.get_content_type() == "image/png"
        assert picture.get_content().startswith(b"\x89PNG")
        name = picture["Content-ID"].strip(" <>")
        assert f'<img src="cid:{name}" alt="' in markup
    assert len(pictures) == markup.count("<img ") == 2
    assert 'alt="Posts by day: 5 in all, at most 1 in one."' in markup
    assert "<td>15K</td>" in markup
    assert f'<a href="{message["List-Unsubscribe"].strip(" <>")}">End it</a>' in markup
    assert not AlertPicture.objects.exists(), "what was sent needs none any more"


def test_pictures_wait_with_their_e_mail_and_go_with_it(vera):
    post(MONDAY - timedelta(days=1), 100)
    digest(vera, every="week")
    make(MONDAY)
    assert AlertPicture.objects.count() == 2
    AlertMail.objects.update(made_at=timezone.now() - timedelta(days=2))

    mail.send(None, public_url=PUBLIC, deadline=Deadline.after(30))

    assert not AlertPicture.objects.exists()


def test_a_log_that_is_deleted_takes_the_pictures_along(vera):
    post(MONDAY - timedelta(days=1), 100)
    digest(vera, every="week")
    make(MONDAY)

    notice.prune_notices(now=timezone.now() + timedelta(days=9999), deadline=Deadline.after(30))

    assert not AlertNotice.objects.exists()
    assert not AlertPicture.objects.exists()


def test_a_daily_digest_has_the_yesterday_of_its_person(vera):
    yesterday = MONDAY.replace(hour=0) - timedelta(hours=1)
    post(yesterday, 300)
    post(MONDAY.replace(hour=0, minute=30), 7_000)
    digest(vera)

    make(MONDAY)

    body = AlertNotice.objects.get().body
    assert "8 Mar 2026, against the day before" in body
    assert "Views, all at 1 h: 300" in body
    assert "Money, by days of UTC" in body


def test_a_local_day_has_one_digest(vera):
    digest(vera, hour=7)
    minutes = [MONDAY + timedelta(minutes=15 * step) for step in range(-8, 4 * 24)]

    assert sum(make(now) for now in minutes) == 2  # Sunday's was late, as nothing ran.
    assert AlertDigest.objects.get().day.isoformat() == "2026-03-09"


def test_a_new_digest_begins_with_its_next_time(vera):
    actor = on_page(vera)
    fields = {"every": "day", "weekday": "0", "hour": "7", "report": "", "when_quiet": "on"}

    assert acts.arrange_digest(fields, actor).is_done

    now = timezone.now()
    assert make(now) == 0
    assert make(now + timedelta(days=1)) == 1


def test_alerts_have_the_times_of_the_person(vera):
    made = rule("trouble", name="Rocket")
    broken = Observation("queue", "x", "It broke.", "", "/operations/", rule=made.pk)
    notice.add_notice(made, [News(broken, "down")], now=MONDAY - timedelta(hours=2))
    digest(vera, report="")

    make(MONDAY)

    assert "05:00  Rocket: It broke." in AlertNotice.objects.get(kind="digest").body


def test_a_report_is_of_what_its_person_may_see(vera):
    stranger = User.objects.create_user("eve")
    hers = SavedView.objects.create(user=stranger, name="Mine", query="author=42")
    own = SavedView.objects.create(user=vera, name="Moon", query="q=moon")
    post(MONDAY - timedelta(days=1), 100)
    row = digest(vera, every="week", report=f"view/{hers.pk}")

    make(MONDAY)
    assert "you may no longer see them" in AlertNotice.objects.get().body

    row.refresh_from_db()
    row.report, row.day = f"view/{own.pk}", None
    row.save()
    make(MONDAY)
    assert "Moon\n----\n" in AlertNotice.objects.first().body


def test_one_click_ends_it_without_a_login_and_opening_asks(vera):
    digest(vera)
    make(MONDAY)
    [message] = sent()
    address = message["List-Unsubscribe"].strip(" <>")
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert address.startswith(f"{PUBLIC}/alerts/digest/end/")
    path = address.removeprefix(PUBLIC)
    stranger = Client(enforce_csrf_checks=True)

    asked = stranger.get(path)
    assert "End this e-mail?" in asked.content.decode()
    assert AlertDigest.objects.exists()
    assert stranger.post(f"{path[:-3]}x/").status_code == 200
    assert AlertDigest.objects.exists(), "an address that is not ours ends nothing"

    ended = stranger.post(path, {"List-Unsubscribe": "One-Click"})

    assert ended.status_code == 200
    assert not AlertDigest.objects.exists()
    line = LogEntry.objects.get()
    assert line.change_message == "Ended the digest, by a link in an e-mail."
    assert "It is over" in stranger.get(path).content.decode()


def test_plain_http_has_no_one_click(vera):
    digest(vera)
    make_digests(public_url="http://watch.example", now=MONDAY.astimezone(UTC))
    box = Box()
    with listening(box) as server:
        mail.send(server, public_url="http://watch.example", deadline=Deadline.after(30))

    [message] = box.got
    assert message["List-Unsubscribe"].strip().startswith("<http://watch.example/")
    assert message["List-Unsubscribe-Post"] is None


def test_an_e_mail_of_a_rule_has_no_address_to_end_it(vera):
    made = rule("trouble", name="Rocket", to=["ada@here.example"])
    broken = Observation("queue", "x", "It broke.", "", "/operations/", rule=made.pk)
    notice.add_notice(made, [News(broken, "down")], now=timezone.now())

    [message] = sent()

    assert message["List-Unsubscribe"] is None
    assert message.get_content_type() == "text/plain"


def test_the_log_shows_a_digest_to_its_person_alone(vera, client):
    digest(vera)
    make(MONDAY)
    eve = User.objects.create_superuser("eve", "eve@here.example", "secret")

    def read_by(person):
        client.force_login(person)
        pages = [client.get(address).content.decode() for address in LOGS]
        return ["Your day until" in page for page in pages]

    assert read_by(vera) == [True, True, True]
    assert read_by(eve) == [False, False, False]


@pytest.fixture
def moon(vera):
    return SavedView.objects.create(user=vera, name="Moon", query="q=moon&sort=likes")


def body_of(row, now=MONDAY):
    AlertDigest.objects.filter(pk=row.pk).update(day=None)
    make(now)
    return AlertNotice.objects.first()


def test_a_digest_has_the_strongest_posts_of_views_of_its_days(vera, moon):
    for age, views in ((3 * HOUR, 400), (2 * HOUR, 50), (30 * HOUR, 700), (32 * HOUR, 9_000)):
        tweet = post(MONDAY - age, views)
        Tweet.objects.filter(pk=tweet.pk).update(views=views)
        Score.objects.create(tweet=tweet, at=MONDAY, views=views / 100, expected_views=100)
    post(MONDAY - HOUR, 5, text="To the sun")
    row = digest(vera, report="", views=[moon.pk])

    notice_made = body_of(row)

    part = notice_made.body.partition("Moon\n----\n")[2].partition("\n\n")[0].splitlines()
    assert part[0] == "Posted since 8 Mar, the strongest first."
    assert [line.partition(" views")[0] for line in part[1:-1]] == ["700", "400", "50"]
    assert part[1].startswith("700 views: @a42: To the moon https://watch.example/tweets/")
    assert part[-1] == f"https://watch.example/sets/view/{moon.pk}/"
    assert f'<a href="https://watch.example/sets/view/{moon.pk}/">' in notice_made.html
    assert "cid:" not in notice_made.html


def test_a_view_that_is_gone_or_not_shared_any_more_says_so(vera, moon):
    eve, desk = User.objects.create_user("eve"), Group.objects.create(name="Desk")
    hers = SavedView.objects.create(user=eve, name="Hers", query="", team=desk)
    vera.groups.add(desk)
    row = digest(vera, report="", views=[hers.pk, moon.pk])
    assert "Hers (Desk, by eve)\n" in body_of(row).body

    vera.groups.remove(desk)
    body = body_of(row).body
    assert "A saved view\n------------\n" in body
    assert "you may no longer see" in body
    assert "Nothing was posted since 8 Mar." in body
    assert "Hers" not in body


def test_a_view_that_takes_too_long_is_left_out(vera, moon, monkeypatch):
    def too_long(*_, **__):
        raise TookTooLong

    monkeypatch.setattr(view_posts, "ordered_ids", too_long)
    assert "The report took too long" in body_of(digest(vera, report="", views=[moon.pk])).body


def test_a_person_chooses_from_the_views_that_they_see(vera, moon):
    eve = User.objects.create_user("eve")
    hers = SavedView.objects.create(user=eve, name="Hers", query="")
    actor = on_page(vera)
    fields = {"every": "day", "weekday": "0", "hour": "7", "report": "", "when_quiet": "on"}
    assert acts.arrange_digest({**fields, "views": [str(moon.pk)]}, actor).is_done
    assert AlertDigest.objects.get().views == [moon.pk]
    assert not acts.arrange_digest({**fields, "views": [str(hers.pk)]}, actor).is_done

    more = [SavedView.objects.create(user=vera, name=f"v{n}", query="").pk for n in range(6)]
    told = acts.arrange_digest({**fields, "views": [str(id) for id in more]}, actor)
    assert told.message == "Choose at most 5 saved views."
    client = Client()
    client.force_login(vera)
    page = client.get("/alerts/").content.decode()
    assert re.search(rf'name="views" value="{moon.pk}"[^>]* checked', page)
    assert "Hers" not in page


def browser_of(person):
    address = {"endpoint": "https://push.example/1"}
    return Channel.objects.create(name="hers", kind="browser", address=address, owner=person)


def test_a_digest_goes_to_the_channels_that_its_person_may_choose(vera):
    eve = User.objects.create_user("eve")
    chat = channel("slack", "https://chat.example", "newsroom")
    hers = browser_of(eve)
    post(MONDAY - timedelta(days=1), 3_000)
    digest(vera, every="week", report="author/42", channels=[chat.pk, hers.pk, 10**6])

    make(MONDAY)

    [message] = ChannelMessage.objects.all()
    assert message.channel == chat
    assert message.title == "Your week until 9 Mar 2026 07:00 UTC+5:45, of vera"
    assert message.notice.kind == "digest"
    by_part = {line["rule"]: line for line in message.lines}
    figures = next(line["what"] for line in message.lines if line["rule"] == "@a42")
    assert "Posts: 1 (before 0" in figures
    assert "https://" not in figures
    assert by_part["@a42"]["url"].startswith("/sets/author/42/?from=")
    assert {"Alerts", "Freshness", "What grew most in 24 hours"} <= by_part.keys()
    assert all(len(line["what"]) <= 400 for line in message.lines)
    assert len(sent()) == 1


def test_a_person_chooses_from_the_channels_offered_to_them(vera):
    chat = channel("slack", "https://chat.example", "newsroom")
    hers = browser_of(User.objects.create_user("eve"))
    fields = {"every": "day", "weekday": "0", "hour": "7", "report": "", "when_quiet": "on"}

    assert acts.arrange_digest({**fields, "channels": [str(chat.pk)]}, on_page(vera)).is_done
    assert AlertDigest.objects.get().channels == [chat.pk]
    assert not acts.arrange_digest({**fields, "channels": [str(hers.pk)]}, on_page(vera)).is_done

    client = Client()
    client.force_login(vera)
    page = client.get("/alerts/").content.decode()
    assert re.search(rf'name="channels" value="{chat.pk}"[^>]* checked', page)
    assert "hers" not in page
