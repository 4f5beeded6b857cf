"""Wrong passwords slow down whoever sends them, in a table that nobody can fill."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from trackers.tokens import wrong_logins
from trackers.tokens.models import WrongLogin
from trackers.tokens.wrong_logins import ACCOUNT, ADDRESS, BOTH, BUCKETS, KINDS, login_attempt

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "a password of no account", "not this one"
LOGIN = "/login/"


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ada():
    return User.objects.create_superuser("ada", "", RIGHT)


def log_in(client, password, *, username="ada", address="192.0.2.1", **headers):
    given = {"username": username, "password": password, "next": "/"}
    return client.post(LOGIN, given, REMOTE_ADDR=address, headers=headers)


def is_in(answer):
    return answer.status_code == 302


def must_wait(answer):
    return "Too many wrong passwords. Try again in" in answer.content.decode()


def later(seconds):
    """So long ago was everything."""
    for one in WrongLogin.objects.all():
        one.last_at -= timedelta(seconds=seconds)
        one.save()


def just_now():
    """The first wait is a second, and a busy machine takes longer from one password to the next."""
    later(-60)


def test_after_wrong_passwords_even_the_right_one_must_wait(client, ada):
    for _ in range(BOTH.free):
        assert not must_wait(log_in(client, WRONG))

    just_now()
    assert must_wait(log_in(client, RIGHT))
    assert must_wait(log_in(client, RIGHT, username=" ADA "))
    later(62)
    assert is_in(log_in(client, RIGHT))


def test_each_wrong_password_doubles_the_wait_and_early_attempts_add_nothing(client, ada):
    for _ in range(BOTH.free + 3):
        log_in(client, WRONG)
        later(600)
    assert WrongLogin.objects.get(bucket__lt=BUCKETS).failures == BOTH.free + 3
    log_in(client, WRONG)
    for _ in range(5):
        assert must_wait(log_in(client, WRONG))

    assert WrongLogin.objects.get(bucket__lt=BUCKETS).failures == BOTH.free + 4
    wait = wrong_logins.wait_of(login_attempt("ada", "192.0.2.1"), now=timezone.now())
    assert timedelta(seconds=8) < wait <= timedelta(seconds=16)


def test_the_right_password_resets_the_wait(client, ada):
    for _ in range(BOTH.free - 1):
        log_in(client, WRONG)
    assert is_in(log_in(client, RIGHT))

    for _ in range(BOTH.free):
        assert not must_wait(log_in(client, WRONG))


def test_the_owner_can_log_in_from_elsewhere_during_an_attack(client, ada):
    for _ in range(BOTH.free):
        log_in(client, WRONG, address="198.51.100.9")

    just_now()
    assert must_wait(log_in(client, RIGHT, address="198.51.100.9"))
    assert is_in(log_in(client, RIGHT, address="192.0.2.1"))


def test_many_accounts_from_one_address_and_one_account_from_many_are_slowed(client, ada):
    for number in range(ADDRESS.free):
        log_in(client, WRONG, username=f"user{number}", address="198.51.100.9")
    just_now()
    assert must_wait(log_in(client, RIGHT, address="198.51.100.9"))

    for number in range(ACCOUNT.free):
        log_in(client, WRONG, username="bob", address=f"203.0.113.{number}")
    just_now()
    assert must_wait(log_in(client, WRONG, username="bob", address="203.0.113.200"))


def test_behind_a_proxy_the_forwarded_address_counts(client, ada, settings):
    settings.BEHIND_PROXY = True

    for number in range(BOTH.free):
        forged = {"X-Forwarded-For": f"10.0.0.{number}, 198.51.100.9"}
        log_in(client, WRONG, address="127.0.0.1", **forged)

    just_now()
    assert must_wait(log_in(client, WRONG, address="127.0.0.1", **forged))
    other = {"X-Forwarded-For": "192.0.2.1"}
    assert is_in(log_in(client, RIGHT, address="127.0.0.1", **other))


@pytest.mark.parametrize(
    "form",
    [
        "198.51.100.8:{}",
        "[2001:db8::8]:{}",
        '"[2001:db8::8]:{}"',
        "9.9.9.{0}, 198.51.100.8:{0}",
        "2001:db8:1:1::{}",
        "unknown{}",
        "198.51.100.8:x:{}",
    ],
)
def test_a_port_or_no_address_makes_no_new_client(client, ada, settings, form):
    settings.BEHIND_PROXY = True

    for number in range(ADDRESS.free):
        forwarded = {"X-Forwarded-For": form.format(number)}
        log_in(client, WRONG, username=f"user{number}", address="127.0.0.1", **forwarded)

    just_now()
    forwarded = {"X-Forwarded-For": form.format(99)}
    assert must_wait(log_in(client, RIGHT, address="127.0.0.1", **forwarded))


def test_wrong_passwords_are_forgotten_after_an_hour():
    who, now = login_attempt("ada", "192.0.2.1"), timezone.now()
    for number in range(12):
        at = now + number * timedelta(minutes=6)
        assert not wrong_logins.count_attempt(who, now=at)

    assert wrong_logins.wait_of(who, now=at) > timedelta(0)
    assert not wrong_logins.wait_of(who, now=at + timedelta(hours=2))
    assert not wrong_logins.count_attempt(who, now=at + timedelta(hours=2))
    assert not wrong_logins.wait_of(who, now=at + timedelta(hours=2))


@pytest.mark.django_db(transaction=True)
def test_concurrent_guesses_are_counted_before_they_are_checked():
    who, now = login_attempt("ada", "192.0.2.1"), timezone.now()

    def guess(_):
        try:
            return wrong_logins.count_attempt(who, now=now)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(guess, range(16)))

    assert waits.count(timedelta(0)) == BOTH.free
    assert WrongLogin.objects.get(bucket__lt=BUCKETS).failures == BOTH.free


def test_a_command_unlocks_an_account_for_all_addresses(client, ada, capsys):
    for address in ("192.0.2.1", "198.51.100.9"):
        for _ in range(BOTH.free + 1):
            log_in(client, WRONG, address=address)
    other = login_attempt("bob", "192.0.2.1")
    wrong_logins.count_attempt(other, now=timezone.now())

    call_command("user", "unlock", "ada")

    assert capsys.readouterr().out == "The failed logins of ada no longer count.\n"
    assert is_in(log_in(client, RIGHT, address="192.0.2.1"))
    assert is_in(log_in(client, RIGHT, address="198.51.100.9"))
    assert WrongLogin.objects.filter(bucket=other.bucket(BOTH)).exists()


def test_an_administrator_unlocks_an_account_in_the_admin(client, ada):
    for _ in range(BOTH.free + 1):
        log_in(client, WRONG)
    just_now()
    assert must_wait(log_in(client, RIGHT))
    root = Client()
    root.force_login(User.objects.create_superuser("root"))

    given = {"action": "unlock", "_selected_action": [str(ada.pk)]}
    root.post("/admin/auth/user/", given)

    assert is_in(log_in(client, RIGHT))


def test_the_table_of_attempts_is_bounded():
    everyone = [login_attempt(f"user{n}", f"2001:db8:{n:x}::1") for n in range(99)]
    buckets = {who.bucket(kind) for who in everyone for kind in KINDS}

    assert all(0 <= one < len(KINDS) * BUCKETS for one in buckets)
    assert {one // BUCKETS for one in buckets} == {0, 1, 2}
    # A home has billions of addresses.
    assert login_attempt("ada", "2001:db8::1") == login_attempt("ADA", "2001:db8::2")
    assert login_attempt("ada", "::ffff:192.0.2.1") == login_attempt("ada", "192.0.2.1")


@pytest.mark.parametrize("username", ["", "\0", "a" * 300])
def test_odd_names_cause_no_500(client, username):
    assert log_in(client, WRONG, username=username).status_code in (200, 400)
