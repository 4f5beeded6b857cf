from tests.pages.conftest import _plain_http, staff
from tests.x import everything_logged, fake, running_fake

__all__ = ["_plain_http", "everything_logged", "fake", "running_fake", "staff"]


def messages_on(page):
    """The messages of the page that a redirect leads to."""
    return [str(message) for message in page.context["messages"]]


def act(staff, address, action, *keys, **more):
    """Choose rows in a list and run an action on them; `sure="yes"` answers its question."""
    given = {"action": action, "_selected_action": [str(key) for key in keys], **more}
    return staff.post(address, given, follow=True)
