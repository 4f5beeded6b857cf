"""Two clusters live on one user's tokens, which end again and again while they work."""

import json
from collections import Counter

import pytest

from tests.flows.conftest import wait_until

pytestmark = pytest.mark.django_db
TOKENS = {
    "client_id": "client-id",
    "client_secret": "planted-client+secret=7/",
    "access_token": "planted-user+access=8/",
    "refresh_token": "planted-user+refresh=9/",
}
TOKEN = "POST /2/oauth2/token"


@pytest.mark.more
def test_two_clusters_take_turns_in_renewing_user_tokens_and_lose_none(product):
    # Each is renewed a minute before its end: every three seconds here.
    product.x.tell("POST", "credentials", {"kind": "oauth2", "expires_in": 63, **TOKENS})
    product.x.put("credentials", {"strict": True})
    product.x.put("latency", {"ms": 20, "token_ms": 300})
    given = json.dumps({**TOKENS, "access_token": "has-ended-long-ago"})
    product.call("credential", "add", "user", "--kind", "oauth2", stdin=given)
    product.call("interval", "set", "4000d=2s", "--yes")
    product.track(product.x.ids(2000))

    clusters = [product.start_cluster(workers=4) for _ in range(2)]
    wait_until(
        lambda: sum(entry["endpoint"] == TOKEN for entry in product.x.log()) >= 6,
        what="the tokens were renewed six times",
    )
    for cluster in clusters:
        assert product.stop(cluster) == 0

    asked = Counter((entry["endpoint"], entry["status"]) for entry in product.x.log())
    renewed = asked.pop((TOKEN, 200))
    # A look-up that was under way when its token was replaced is refused, and made again.
    refused = asked.pop(("GET /2/tweets", 401), 0)
    assert set(asked) == {("GET /2/tweets", 200)}
    assert asked["GET /2/tweets", 200] > 40
    assert refused <= 8 * (renewed + 1)
    [row] = product.status()["credentials"]
    assert (row["state"], row["reason"]) == ("ready", "")
    [grant] = product.x.get("credentials")["registered"]
    assert grant["rotations"] == renewed
