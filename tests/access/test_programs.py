"""Every call of the API by every role: whose token gets in, as `programs.txt` says.

The calls are the examples of docs/api.md, and a test elsewhere has all there. Nothing is there that
they name, so who is let in finds that out: it is the refusals that count, and that they come before
anything else. As in `test_matrix.py` the least that is let in and the rung below decide for all.
"""

import json
from pathlib import Path

import pytest
from django.db import transaction

from tests.access.test_matrix import ACCOUNT, LADDER, rung_below, user_of
from tests.api.conftest import Program, end
from tests.api.db.test_document import DOCUMENT, EXAMPLE, STREAM, TEXT

pytestmark = pytest.mark.django_db

MATRIX = Path(__file__).parent / "programs.txt"


def calls():
    """Method and path, with an address and a body that ask for it."""
    examples = [(method, address, body) for method, address, body, *_ in EXAMPLE.findall(DOCUMENT)]
    examples += [(method, address, "") for method, address, _ in STREAM.findall(TEXT)]
    return {
        f"{method} {address.partition('?')[0]}": (method, address, body)
        for method, address, body in examples
    }


def matrix():
    """Call by the least whose token gets in."""
    lines = [line for line in MATRIX.read_text().splitlines() if not line.startswith("#")]
    return {call: least for least, call in (line.split(maxsplit=1) for line in lines)}


def lets_in(program, method, address, body):
    """Whatever it does is undone."""
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
    with transaction.atomic():
        answer = program.raw(path, method, json.loads(body) if body.strip() else None)
        end(answer)
        transaction.set_rollback(True)
    assert answer.status_code != 401
    return answer.status_code != 403


@pytest.mark.parametrize("rung", [rung for rung in LADDER if rung != "anybody"])
def test_the_least_role_of_the_matrix_gets_in_and_the_one_below_does_not(client, rung):
    program, decided, examples = Program(client, user_of(rung)), matrix(), calls()

    may = {call for call, least in decided.items() if least == rung}
    may_not = {call for call, least in decided.items() if rung_below(least) == rung}

    asked = {call: examples[call] for call in examples if call in may | may_not}
    assert {call for call, example in asked.items() if lets_in(program, *example)} == may


def test_the_matrix_covers_every_call_and_none_is_open_to_an_account_without_a_role():
    decided = matrix()

    assert set(calls()) == set(decided)
    assert ACCOUNT not in decided.values()
