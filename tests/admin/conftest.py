import pytest
from django.contrib.auth.models import User

from tests.x import everything_logged, fake, running_fake

__all__ = ["everything_logged", "fake", "running_fake"]


@pytest.fixture(autouse=True)
def _plain_http(settings):
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture
def staff(client, db):
    """A client that is logged in as an administrator."""
    client.force_login(User.objects.create_superuser("ada", "", "a password of no account"))
    return client


def said(page):
    """The messages of the page that a redirect leads to."""
    return [str(message) for message in page.context["messages"]]


def act(staff, address, action, *keys, **more):
    """Choose rows in a list and run an action on them; `sure="yes"` answers its question."""
    given = {"action": action, "_selected_action": [str(key) for key in keys], **more}
    return staff.post(address, given, follow=True)
