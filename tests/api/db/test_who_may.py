"""What a token's scope allows: each example of docs/api.md, by who lacks it.

Nothing is there that the examples name, so whoever is let in finds that out: it is the refusals
that count, and that they come before anything else. Who lacks the permission: tests/access.
"""

import json

from django.contrib.auth.models import User

from tests.api.conftest import Program, end
from tests.api.db.test_document import DOCUMENT, EXAMPLE, STREAM, TEXT

# A POST that changes nothing: its question is too long for an address.
LOOKS = (
    "intervals/preview",
    "alerts/rules/trial",
    "timelines/get_multi",
    "timelines/{name}/filter",
)
TAKES_ADMIN = ("alerts/rules", "channels", "subscribers", "intervals", "queues/")


def examples():
    for method, address, body, *_ in EXAMPLE.findall(DOCUMENT):
        yield method, address, json.loads(body) if body.strip() else None
    for method, address, _ in STREAM.findall(TEXT):
        yield method, address, None


def ask(program, method, address, body):
    path = address.format(
        follower="me",
        source=1,
        account=42,
        name="news",
        id=11,
        new=1,
        queue="tweet:update",
        note=1,
        share=1,
        view=1,
        channel=1,
        rule=1,
        kind="author",
        key=42,
    )
    answer = program.raw(path, method, body)
    end(answer)
    return answer.status_code


def test_each_call_needs_its_scope(client):
    user = User.objects.create_superuser("olga")
    reader, writer = (Program(client, user, scope) for scope in ("read", "write"))
    wrong = {}
    for method, address, body in examples():
        changes = method != "GET" and not address.startswith(LOOKS)
        takes_admin = changes and address.startswith(TAKES_ADMIN)
        # The writer first: what is refused is not done.
        for program, refused in ((reader, changes), (writer, takes_admin)):
            if (ask(program, method, address, body) == 403) != refused:
                wrong[method, address] = program.token
    assert wrong == {}
