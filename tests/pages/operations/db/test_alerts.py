"""A person adds a rule, tries it, reads the log, and arranges a daily e-mail."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.utils import timezone

from tests.alerts.conftest import moves, rule, tweet
from tests.alerts.mail_servers import Box, free_port, listening, server
from tests.stored_events import events_of, subscribe
from trackers import roles, tasks
from trackers.alerts import notice
from trackers.alerts.digest import make_digests
from trackers.alerts.models import AlertDigest, AlertMail, AlertNotice, AlertRule
from trackers.alerts.velocity import tweet_finding
from trackers.ingest.sources.models import Source
from trackers.outbox.findings import News
from trackers.saved_views.models import SavedView
from trackers.tweets.gains.heads import store_heads
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import get_or_create_tag

ADD = "/alerts/add/"
FAST = {"kind": "velocity", "about": "any", "metric": "likes", "minutes": 60, "at": 1000,
        "to": "ada@here.example", "rest": "2h", "enabled": "on"}  # fmt: skip

DAILY = {"every": "day", "weekday": "0", "hour": "7", "report": "all/all"}


def make(now):
    return make_digests(public_url="https://watch.example", now=now)


def words(reply):
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", reply.content.decode(), flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_a_rule_is_added_by_its_kind_and_is_in_the_list_and_the_history(staff):
    assert "Tell me when" in words(staff.get(ADD))
    form = staff.get(f"{ADD}?kind=velocity").content.decode()
    assert 'name="metric"' in form
    assert 'name="late_by"' not in form
    # No figure is offered that would be refused.
    assert 'value="0"' not in form

    reply = staff.post(ADD, FAST, follow=True)

    alert_rule = AlertRule.objects.get()
    assert (alert_rule.name, alert_rule.at, alert_rule.rest, alert_rule.to) == (
        "Fast likes", 1000, timedelta(hours=2), ["ada@here.example"],
    )  # fmt: skip
    assert alert_rule.made_by.username == "ada"
    assert "Fast likes: added. Send a test" in words(reply)
    assert "When a tweet gains 1,000 likes an hour or more, measured over an hour." in words(
        staff.get("/alerts/")
    )
    assert LogEntry.objects.get().change_message == "Added, on a page."

    assert '<option value="views">views</option>' in form
    AlertRule.objects.update(metric="views")
    assert "gains 1,000 views an hour" in words(staff.get("/alerts/"))

    staff.post(f"/alerts/{alert_rule.pk}/edit/", {**FAST, "name": "Rocket", "at": 5})
    alert_rule.refresh_from_db()
    assert (alert_rule.name, alert_rule.at, alert_rule.by_event) == ("Rocket", 5, False)


@pytest.mark.parametrize("page", ["/tweets/1/", "/authors/7/", "/sources/{source}/"])
def test_a_page_leads_to_a_rule_for_taking_off_that_needs_only_to_be_added(staff, page):
    tweet(1)
    source = Source.objects.create(kind="search", of="cats").pk
    User.objects.filter(username="ada").update(email="ada@here.example")
    reply = staff.get(page.format(source=source))
    [link] = re.findall(r'id="takes-off" href="([^"]+)"', reply.content.decode())

    form = staff.get(link.replace("&amp;", "&")).context["form"]
    filled = {name: form[name].value() for name in form.fields}
    reply = staff.post(link.replace("&amp;", "&"), {n: v for n, v in filled.items() if v})

    assert reply.status_code == 302
    made = AlertRule.objects.get()
    assert (made.kind, made.times, made.to) == ("usual", 3, ["ada@here.example"])
    assert made.of == {"tweet": 1, "author": 7, "source": source}[made.about]


def test_a_form_says_what_the_rule_would_have_raised_and_saves_nothing(staff):
    moves(tweet(1), 1500)
    now = timezone.now()
    for hours in (23.9, 2):
        store_heads(now=now - timedelta(hours=hours))

    reply = staff.post(ADD, {**FAST, "rehearse": "yes"})

    said = words(reply)
    assert "Would have fired 2 times in the last day: about 2 messages a day" in said
    assert "Tweet 1 of @a7 gained 1,500 likes an hour." in said
    assert "Not saved yet" not in said
    assert 'value="1000"' in reply.content.decode()
    assert not AlertRule.objects.exists()
    wrong = staff.post(ADD, {**FAST, "at": "", "rehearse": "yes"})
    assert (wrong.status_code, "Enter a number of 1 or more." in words(wrong)) == (200, True)
    kept = rule("velocity", metric="likes", at=5)
    edit = staff.post(f"/alerts/{kept.pk}/edit/", {**FAST, "at": 1501, "rehearse": "yes"})
    assert "Would not have fired in the last day." in words(edit)
    kept.refresh_from_db()
    assert kept.at == 5


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"at": ""}, "Enter a number of 1 or more."),
        ({"metric": ""}, "Choose a metric."),
        ({"to": "ada@here, bob@there.example"}, "“ada@here” is not an e-mail address."),
        ({"to": ""}, "It would notify nobody."),
        ({"rest": "5s"}, "From 1 minute to 30 days"),
        ({"rest": "soon"}, "is not a duration"),
        ({"about": "tweet", "of": "5"}, "No tracked tweet called “5” is known here."),
        ({"about": "author", "of": ""}, "Say which author: @name, a link, or its number."),
        ({"kind": "milestone", "about": "tweet", "of": "1", "at": 10}, "It has 50 already."),
        ({"kind": "source", "about": "author", "of": "7"}, "not one of the available"),
        ({"to": ", ".join(f"a{n}@here.example" for n in range(11))}, "Enter at most 10 addresses."),
    ],
)
def test_an_invalid_rule_is_refused_with_the_reason(staff, given, why):
    tweet(1, likes=50)

    reply = staff.post(ADD, {**FAST, **given})

    assert reply.status_code == 400
    assert why in words(reply)
    assert not AlertRule.objects.exists()


@pytest.mark.parametrize(
    ("about", "typed", "of"),
    [
        ("author", "@Ada", 7),
        ("author", "https://x.com/ada", 7),
        ("author", "7", 7),
        ("author", "https://watch.example/authors/7/", 7),
        ("tweet", "https://x.com/ada/status/1?s=20", 1),
        ("tweet", "https://watch.example/tweets/1/?view=days", 1),
        ("source", "@nasa", "account"),
        ("source", "https://x.com/NASA", "account"),
        ("source", "cats  lang:en", "search"),
    ],
)
def test_a_rule_takes_what_a_person_knows_of_its_subject(staff, about, typed, of):
    tweet(1)
    Author.objects.update_or_create(id=7, defaults={"username": "ada"})
    Author.objects.update_or_create(id=8, defaults={"username": "adabel"})
    sources = {
        "account": Source.objects.create(kind="account", of="nasa").pk,
        "search": Source.objects.create(kind="search", of="cats lang:en").pk,
    }
    kind = {"kind": "source"} if about == "source" else {}

    reply = staff.post(ADD, {**FAST, **kind, "about": about, "of": typed})

    assert reply.status_code == 302, words(reply)
    assert AlertRule.objects.get().of == sources.get(of, of)


def test_alerts_show_the_texts_that_x_shows_today(staff):
    made = rule("velocity", metric="likes", at=10, to=[])
    there, gone = tweet(1), tweet(2)
    TweetText.objects.bulk_create(
        TweetText(tweet=one, text=text) for one, text in ((there, "Lift-off!"), (gone, "A secret."))
    )
    news = [News(tweet_finding(made, one.pk, "It grows."), "down") for one in (there, gone)]
    notice.add_notice(made, news, now=timezone.now())
    for address in ("/alerts/", f"/alerts/{made.pk}/", "/alerts/log/"):
        assert "Lift-off!" in words(staff.get(address))
        assert "A secret." in words(staff.get(address))

    Tweet.objects.filter(pk=gone.pk).update(missing_since=timezone.now())

    for address in ("/alerts/", f"/alerts/{made.pk}/", "/alerts/log/"):
        assert "Lift-off!" in words(staff.get(address))
        assert "A secret." not in words(staff.get(address))
    assert "secret" not in str(AlertNotice.objects.values())


def test_more_of_an_alert_is_a_link(staff):
    made = rule("milestone", metric="likes", at=500, to=[])
    news = [News(tweet_finding(made, id, "It grows."), "down") for id in range(1, 101)]
    notice.add_notice(made, news, now=timezone.now())

    page = staff.get("/alerts/").content.decode()
    log = re.search(r'<a href="(/alerts/log/[^"]*)">And 95 more</a>', page)[1]
    page = staff.get(log).content.decode()
    assert page.count("It grows.") == 20
    assert '<a href="/tweets/?min_likes=500">And 80 more</a>' in page


def test_a_new_rule_about_the_usual_has_a_minimum(staff):
    page = staff.get(f"{ADD}?kind=usual").content.decode()
    assert re.search(r'name="at" value="100"', page)


@pytest.mark.parametrize("about", ["author", "source", "tweet"])
@pytest.mark.parametrize("digits", ["9" * 19, "9" * 5000, "١٢٣"])
def test_a_number_of_nothing_is_refused_whatever_its_length(staff, about, digits):
    reply = staff.post(ADD, {**FAST, "about": about, "of": digits})

    assert reply.status_code == 400
    assert "is known here." in words(reply)


def test_a_rule_about_an_unknown_name_is_refused(staff):
    Author.objects.update_or_create(id=8, defaults={"username": "adabel"})

    reply = staff.post(ADD, {**FAST, "about": "author", "of": "@ada"})

    assert "No author called “@ada” is known here." in words(reply)


def test_pages_of_tweets_authors_and_sources_link_to_the_rule_form(staff):
    one = tweet(1)
    source = Source.objects.create(kind="search", of="cats")
    for page, about, of in (
        (f"/tweets/{one.pk}/", "tweet", 1), ("/authors/7/", "author", 7),
        (f"/sources/{source.pk}/", "source", source.pk),
    ):  # fmt: skip
        assert f"{ADD}?about={about}&amp;of={of}" in staff.get(page).content.decode()
        chosen = staff.get(f"{ADD}?kind=source&about={about}&of={of}").content.decode()
        # By the name that a person would type.
        assert 'value="cats"' in chosen or about != "source"
    assert "A credential fails" not in words(staff.get(f"{ADD}?about=tweet&of=1"))
    assert staff.get(f"{ADD}?about=tweet&of=é").status_code == 404


def test_a_test_alert_is_sent_to_addresses_and_subscribers(staff, settings):
    alert_rule = rule("velocity", metric="likes", at=5, to=["ada@here.example", "bob@here.example"])
    subscribe("alerts")
    box = Box()
    with listening(box) as settings.EMAIL_SERVER:
        reply = staff.post(f"/alerts/{alert_rule.pk}/test", follow=True)

    assert "A test is on its way to ada@here.example, bob@here.example." in words(reply)
    assert "Subscribers to the topic alerts get an event." in words(reply)
    assert [found["Subject"] for found in box.got] == ["[tweetwatch] Test: velocity"] * 2
    [event] = events_of("alerts")
    assert (event.data["rule"], event.data["state"]) == ("velocity", "test")
    assert words(reply).count("sent e-mail to") == 2
    assert LogEntry.objects.get().change_message == "Tested, on a page."


def test_a_failed_test_alert_says_why_and_is_not_retried(staff, settings):
    alert_rule = rule("velocity", metric="likes", at=5, to=["ada@here.example"], by_event=False)
    settings.EMAIL_SERVER = server(free_port())
    assert "Nothing listens at 127.0.0.1:" in words(
        staff.post(f"/alerts/{alert_rule.pk}/test", follow=True)
    )
    assert [mail.state for mail in AlertMail.objects.all()] == ["given_up"]
    settings.EMAIL_SERVER = None
    reply = words(staff.post(f"/alerts/{alert_rule.pk}/test", follow=True))
    assert "No mail server is set. Set EMAIL_URL in the environment, then restart." in reply
    assert "No e-mail is sent." in reply


def test_a_rule_is_disabled_enabled_and_removed_and_its_log_stays(staff):
    alert_rule = rule("velocity", metric="likes", at=5)
    notice.add_notice(
        alert_rule, [News(tweet_finding(alert_rule, 1, "It grows."), "down")], now=timezone.now()
    )
    for act, enabled in (("off", False), ("on", True)):
        staff.post(f"/alerts/{alert_rule.pk}/{act}")
        alert_rule.refresh_from_db()
        assert alert_rule.enabled is enabled

    reply = staff.post(f"/alerts/{alert_rule.pk}/remove", {"sure": "yes"}, follow=True)

    assert not AlertRule.objects.exists()
    assert "velocity: removed." in words(reply)
    assert "It grows." in words(staff.get("/alerts/log/"))


def test_a_rule_of_an_untracked_tweet_says_so_and_what_to_do(staff):
    rule("velocity", metric="likes", at=5, about="tweet", of=1)
    assert "This tweet is no longer tracked. Track it again, or remove the rule." in words(
        staff.get("/alerts/")
    )


def test_the_log_has_pages(staff, django_assert_max_num_queries):
    one = rule("velocity", metric="likes", at=5, name="<b>Rocket</b>")
    for nth in range(60):
        notice.add_notice(one, [News(tweet_finding(one, nth, f"It grows {nth}."), "down")],
                   now=timezone.now())  # fmt: skip
    with django_assert_max_num_queries(12):
        first = staff.get("/alerts/log/")
    assert "<b>Rocket" not in first.content.decode()
    assert "It grows 59." in words(first)
    older = re.search(r"\?before=\d+", first.content.decode())[0]
    assert "It grows 9." in words(staff.get(f"/alerts/log/{older}"))
    assert staff.get("/alerts/log/?before=x").status_code == 404


def test_a_viewer_sees_the_rules_and_cannot_change_them(client):
    alert_rule = rule("velocity", metric="likes", at=5)
    user = User.objects.create_user("vera")
    roles.give(user, "viewer")
    client.force_login(user)

    page = client.get(f"/alerts/{alert_rule.pk}/")
    assert page.status_code == 200
    assert "Send a test" not in words(page)
    assert client.post(f"/alerts/{alert_rule.pk}/test").status_code == 403
    assert not AlertNotice.objects.exists()


def test_a_viewer_sees_no_address_of_others(client, staff):
    alert_rule = rule("velocity", metric="likes", at=5, to=["ada@here.example"])
    notice = AlertNotice.objects.create(rule=alert_rule, rule_name="Fast", at=timezone.now())
    AlertMail.objects.create(
        notice=notice, to="ada@here.example", made_at=timezone.now(), next_at=timezone.now(),
        error="550 <ada@here.example>: unknown",
    )  # fmt: skip
    pages = ("/alerts/", "/alerts/log/", f"/alerts/{alert_rule.pk}/")
    for page in pages:
        assert "ada@here.example" in words(staff.get(page)), page
    viewer(client)
    for page in pages:
        shown = client.get(page).content.decode()
        assert "ada@here" not in shown, page
        assert "a…@here.example" in shown, page


NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


def at(hour, day=0):
    return NOON + timedelta(hours=hour - 12, days=day)


def viewer(client, email="vera@here.example"):
    user = User.objects.create_user("vera", email)
    roles.give(user, "viewer")
    client.force_login(user)
    return user


def test_a_person_subscribes_to_and_stops_the_daily_e_mail(client):
    user = viewer(client)
    reply = client.post("/alerts/digest", {**DAILY, "when_quiet": "on"}, follow=True)
    assert "vera@here.example gets an e-mail every day at 07:00, UTC." in words(reply)
    assert AlertDigest.objects.get(user=user).when_quiet
    assert "from 0 to 23" in words(
        client.post("/alerts/digest", {**DAILY, "hour": "24"}, follow=True)
    )
    client.post("/alerts/digest", {"stop": "1"})
    assert not AlertDigest.objects.exists()
    User.objects.update(email="")
    reply = client.post("/alerts/digest", DAILY, follow=True)
    assert "Your account has no e-mail address." in words(reply)


def test_a_digest_comes_once_a_day_and_on_quiet_days_only_if_wanted(client):
    user = viewer(client)
    row = AlertDigest.objects.create(user=user, hour=7, when_quiet=True)
    days = [at(6), at(7), at(8), at(6, 1), at(9, 1)]
    row.day = (NOON - timedelta(days=1)).date()
    row.save()
    assert [make(now) for now in days] == [0, 1, 0, 0, 1]

    AlertDigest.objects.filter(pk=row.pk).update(when_quiet=False)
    assert make(at(7, 2)) == 0
    grows = News(tweet_finding(rule("lateness"), 1, "It grows."), "down")
    notice.add_notice(rule("lateness"), [grows], now=at(20, 2))
    assert make(at(7, 3)) == 1


def test_a_digest_lists_alerts_and_gains_and_is_sent(client, settings):
    user = viewer(client)
    AlertDigest.objects.create(user=user, hour=0, when_quiet=True)
    Author.objects.create(id=8, username="nasa")
    one = rule("velocity", metric="likes", at=5, name="Rocket")
    now = timezone.now()
    notice.add_notice(one, [News(tweet_finding(one, 1, "It grows."), "down")] * 3, now=now)
    box = Box()
    with listening(box) as settings.EMAIL_SERVER:
        tasks.alert_people()
        tasks.send_mail()

    [message] = box.got
    text = message.get_body(("plain",)).get_content().replace("\r\n", "\n")
    assert "Rocket: It grows. And 2 more." in text
    for title in (
        "Alerts", "All tweets", "What grew most in 24 hours", "Freshness", "Money, by days of UTC"
    ):  # fmt: skip
        assert f"{title}\n{'-' * len(title)}\n" in text
    assert "/alerts/" in text
    assert "Your day until" in words(client.get("/alerts/log/"))


def test_a_digest_needs_the_permission_on_what_it_reports(client):
    user = User.objects.create_user("nora", "nora@here.example")
    AlertDigest.objects.create(user=user, hour=0, when_quiet=True)

    assert make(NOON) == 1
    assert AlertNotice.objects.get().body == ""


def test_the_admin_links_to_the_page_of_a_rule_and_has_the_log(staff):
    alert_rule = rule("velocity", metric="likes", at=10, to=["ada@here.example"])
    where = "/admin/trackers/alertrule/"
    assert staff.get(where)["Location"] == "/alerts/"
    assert staff.get(f"{where}add/")["Location"] == "/alerts/add/"
    assert staff.get(f"{where}{alert_rule.pk}/change/")["Location"] == f"/alerts/{alert_rule.pk}/"
    notice.add_notice(
        alert_rule, [News(tweet_finding(alert_rule, 1, "It grows."), "down")], now=timezone.now()
    )
    made = AlertNotice.objects.get()
    assert "It grows." in words(staff.get("/admin/trackers/alertnotice/"))
    assert staff.get(f"/admin/trackers/alertnotice/{made.pk}/change/").status_code == 200


@pytest.fixture
def launch(staff):
    ada = User.objects.get(username="ada")
    return SavedView.objects.create(user=ada, name="Liked", query="min_likes=5")


@pytest.mark.parametrize(
    "typed", ["Launch", "#launch", " launch ", "{id}", "https://w.example/sets/tag/{id}/"]
)
def test_a_rule_takes_a_tag_by_its_name(staff, typed):
    tag = get_or_create_tag("Launch")

    reply = staff.post(ADD, {**FAST, "about": "tag", "of": typed.format(id=tag.pk), "name": ""})

    assert reply.status_code == 302, words(reply)
    made = AlertRule.objects.get()
    assert (made.about, made.of, made.name) == ("tag", tag.pk, "Fast likes, tag Launch")
    page = staff.get(f"/alerts/{made.pk}/").content.decode()
    assert '<a href="/tweets/?tag=Launch" dir="auto">tag Launch</a>' in page
    assert 'name="of" value="Launch"' in staff.get(f"/alerts/{made.pk}/edit/").content.decode()

    Tag.objects.update(ended_at=timezone.now())
    assert "This tag was removed." in words(staff.get("/alerts/"))


def test_a_rule_takes_a_saved_view_by_its_name(staff, launch):
    form = staff.get(f"{ADD}?kind=velocity&about=view&of={launch.pk}").content.decode()
    assert 'name="of" value="Liked"' in form
    assert '<option value="Liked">saved view</option>' in form
    assert f"about=view&amp;of={launch.pk}" in form

    staff.post(ADD, {**FAST, "about": "view", "of": "liked", "name": ""})

    made = AlertRule.objects.get()
    assert (made.of, made.name) == (launch.pk, "Fast likes, view Liked")
    page = staff.get(f"/alerts/{made.pk}/").content.decode()
    assert '<a href="/tweets/?min_likes=5" dir="auto">saved view Liked</a>' in page
    launch.delete()
    assert "This saved view was removed." in words(staff.get("/alerts/"))
    # It can be changed all the same, and told to be about something else.
    edit = {**FAST, "about": "view", "of": str(made.of), "at": 7}
    assert staff.post(f"/alerts/{made.pk}/edit/", edit).status_code == 302
    assert AlertRule.objects.get().at == 7


def test_a_rule_cannot_be_about_a_view_of_another_person(staff):
    eve, desk = User.objects.create_user("eve"), Group.objects.create(name="Desk")
    view = SavedView.objects.create(user=eve, name="Hers", query="min_likes=5")
    for typed in ("Hers", str(view.pk), f"/sets/view/{view.pk}/", "", "9" * 19):
        reply = staff.post(ADD, {**FAST, "about": "view", "of": typed})
        told = words(reply)
        assert reply.status_code == 400
        assert "No saved view called" in told or "Say which saved view: its name." in told
    assert "Hers" not in staff.get(f"{ADD}?kind=velocity&about=view&of={view.pk}").content.decode()

    view.team = desk
    view.save()
    User.objects.get(username="ada").groups.add(desk)
    assert staff.post(ADD, {**FAST, "about": "view", "of": "Hers"}).status_code == 302
