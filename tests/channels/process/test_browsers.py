"""A browser as a channel: only its push service is called, and only it can read what is sent."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from tests.channels.push import Browser, claims_of, push_service
from tests.channels.sending import channel, line, sending, tell, until
from trackers.alerts.forms import RuleForm
from trackers.alerts.models import AlertRule
from trackers.channels import browsers
from trackers.channels.models import Channel, ChannelMessage, PushKey
from trackers.events.delivery.egress import Egress
from trackers.history import on_page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ada():
    return User.objects.create_superuser("ada")


@pytest.fixture
def service(settings):
    settings.EGRESS_PLAIN_HTTP = True
    with push_service() as service:
        settings.PUSH_HOSTS = [service.place]
        yield service


def added(user, service, browser, name="phone"):
    return browsers.add_browser(
        user, on_page(user), name=name, endpoint=service.endpoint, **browser.keys
    )


def states():
    return list(ChannelMessage.objects.values_list("state", flat=True))


def test_a_rule_may_choose_its_own_persons_browsers_alone(ada, service):
    ben = User.objects.create_superuser("ben")
    hers, his = (added(user, service, Browser(), user.username) for user in (ada, ben))
    chat = channel("slack", "https://hooks.slack.com")

    def offered(reader, rule=None):
        return set(RuleForm(kind="usual", reader=reader, instance=rule).fields["channels"].queryset)

    assert offered(ada) == {hers, chat}
    assert offered(ben) == {his, chat}
    rule = AlertRule.objects.create(name="Takes off", kind="usual")
    rule.channels.add(hers)
    # Another person who changes the rule does not take it away.
    assert offered(ben, rule) == {hers, his, chat}


def test_an_alert_arrives_so_that_its_browser_alone_reads_it(ada, service):
    browser = Browser()
    phone = added(ada, service, browser)
    tell(phone, lines=[line(), line("It took off."), line("@bob's fell.")], title="Fast: 3 alerts")

    with sending():
        until(lambda: states() == ["sent"])

    [(headers, body)] = service.got
    assert (headers["Content-Encoding"], headers["TTL"]) == ("aes128gcm", "86400")
    assert b"likes" not in body
    message = browser.read(body)
    assert message["title"] == "Fast: 3 alerts"
    assert message["body"].splitlines()[1:] == ["It took off.", "@bob's fell."]
    assert message["url"] == "https://watch.example/alerts/log/"
    claims, key = claims_of(headers["Authorization"], f"http://{service.place}")
    assert key == browsers.public_key()
    assert claims["sub"].startswith("https://watch.example/")


def test_one_alert_leads_to_its_tweet(ada, service):
    browser = Browser()
    tell(added(ada, service, browser))

    with sending():
        until(lambda: states() == ["sent"])

    assert browser.read(service.got[0][1])["url"] == "https://watch.example/tweets/20/"


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_over_is_removed(ada, service, status):
    service.status = status
    tell(added(ada, service, Browser()))

    with sending():
        until(lambda: not Channel.objects.exists())


def test_a_service_that_fails_is_tried_again(ada, service):
    service.status = 503
    phone = added(ada, service, Browser())
    tell(phone)

    with sending():
        until(lambda: Channel.objects.get().reason)

    assert states() == ["waiting"]
    assert "a-secret-of-the-browser" not in Channel.objects.get().reason


def test_an_endpoint_within_the_own_network_is_not_called(ada, service):
    tell(added(ada, service, Browser()))

    with sending(egress=Egress((), plain_http=True)):
        until(lambda: Channel.objects.get().reason)

    assert service.got == []


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://evil.example/send/1", "https://push.apple.com.evil.example/1",
        "http://fcm.googleapis.com/1", "javascript:alert(1)", "", "https://fcm.googleapis.com:8443/",
    ],
)  # fmt: skip
def test_only_known_push_services_over_https_are_taken(ada, endpoint):
    with pytest.raises(ValidationError):
        browsers.add_browser(ada, on_page(ada), name="x", endpoint=endpoint, **Browser().keys)

    assert not Channel.objects.exists()


@pytest.mark.parametrize("keys", [{"p256dh": "AAAA"}, {"auth": "short"}, {"auth": "ü" * 22}])
def test_nonsense_is_refused_as_keys(ada, service, keys):
    with pytest.raises(ValidationError, match="keys cannot be read"):
        browsers.add_browser(
            ada, on_page(ada), name="x", endpoint=service.endpoint, **{**Browser().keys, **keys}
        )


def test_a_browser_that_asks_again_stays_one(ada, service):
    first = added(ada, service, Browser())
    again = Browser()
    assert added(ada, service, again).pk == first.pk

    assert Channel.objects.get().address["auth"] == again.keys["auth"]
    assert str(Channel.objects.get()) == "ada: phone"
    assert PushKey.objects.count() == 1


def test_two_browsers_of_one_name_get_numbers(ada, service):
    added(ada, service, Browser())
    browsers.add_browser(
        ada, on_page(ada), name="phone", endpoint=f"{service.endpoint}2", **Browser().keys
    )

    assert [str(one) for one in browsers.browsers_of(ada)] == ["ada: phone", "ada: phone 2"]


def test_no_log_and_no_page_has_an_endpoint(ada, service, caplog, client):
    caplog.set_level("DEBUG")
    service.status = 500
    browser = Browser()
    phone = added(ada, service, browser)
    tell(phone)
    with sending():
        until(lambda: Channel.objects.get().reason)
    client.force_login(ada)

    pages = [
        client.get(address).content.decode()
        for address in ("/account/", "/alerts/channels/", f"/alerts/channels/{phone.pk}/")
    ]
    for text in (caplog.text, *pages):
        assert "a-secret-of-the-browser" not in text
        assert browser.keys["auth"] not in text
