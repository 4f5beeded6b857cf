"""What the product makes of X's bodies, published and recorded (`tests/xapi/corpus`)."""

import pytest

from tests.xapi.corpus import cases, sentence, verdicts

CASES = list(cases())
REFUSALS = [case for case in CASES if case["file"] == "refusals"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['file']}: {case['name']}")
def test_a_body_gets_its_verdict(case):
    for endpoint, verdict, expected in verdicts(case):
        assert verdict == expected, endpoint


def test_the_corpus_is_complete():
    assert len(CASES) == 252


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["name"])
def test_a_refusal_is_one_line_with_its_status(case):
    reason = sentence(case).reason

    assert reason.startswith(str(case["status"]))
    assert len(reason) <= 250
    assert "\n" not in reason


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("403 not enrolled", "Check both in X's developer console"),
        ("403 unsupported auth", "Add a credential of a kind that X names"),
        ("403 oauth1 permissions", "make new access tokens"),
        ("403 provisioning", "There is nothing to do"),
        ("422 rule cap whole", "Remove some, or choose a larger plan"),
        ("403 rule cap whole", "Remove some, or choose a larger plan"),
        ("v1.1 416 (401)", "X has suspended the app"),
        ("app suspended", "X has suspended the app"),
        ("user of the keys suspended", "X has suspended the account that the keys belong to"),
        ("404 empty", "something between us and X answered"),
        ("429 html of cloudflare", "something between us and X answered"),
        ("503 html", "something between us and X answered"),
        ("403 spec Error", "You are not permitted to do this"),
        ("401 protected account", "Not authorized."),
    ],
)
def test_a_refusal_says_what_a_person_can_do(name, step):
    assert step in sentence(next(case for case in REFUSALS if case["name"] == name)).reason


@pytest.mark.parametrize("status", [401, 403, 404, 407, 503])
@pytest.mark.parametrize("body", ["", "<html>Blocked</html>", {"message": "Forbidden"}])
def test_a_proxy_that_answers_is_not_taken_for_x(status, body):
    error = sentence({"status": status, "body": body}, "GET /2/users/:id/tweets")

    assert type(error).__name__ == "Unavailable"
    assert "something between us and X answered" in error.reason
