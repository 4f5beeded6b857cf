"""Money: a post costs once a project and UTC day, and nothing that failed costs anything."""

import pytest
import requests

HOSTS = ["api.twitter.com", "api.x.com"]
CAPPED = {
    "account_id": 1700000000000000000,
    "product_name": "standard-basic",
    "title": "UsageCapExceeded",
    "period": "Monthly",
    "scope": "Product",
    "detail": "Usage cap exceeded: Monthly product cap",
    "type": "https://api.twitter.com/2/problems/usage-capped",
}


@pytest.fixture
def ours(x):
    """The fake with two apps of one project, and an app of another."""
    for token, app, project in (("a", "one", "ours"), ("b", "two", "ours"), ("c", "c", "theirs")):
        registered = {"kind": "bearer", "bearer_token": token, "app": app, "project": project}
        x.fake("POST", "credentials", registered)
    return x


def project(x, name: str = "ours") -> dict:
    return x.fake("GET", f"projects/{name}")


def posts(x, name: str = "ours") -> int:
    return project(x, name)["posts"]


def billed(entry: dict) -> tuple[int, int]:
    return entry["billed_posts"], entry["billed_micro"]


def test_a_post_is_billed_once_by_project_and_utc_day(ours):
    ids = ours.live_ids(10)

    collected = []
    for token, asked in (("a", ids[:6]), ("a", ids[:6]), ("b", ids), ("c", ids[:1])):
        ours.tweets(asked, token=token)
        collected.append(billed(ours.entry()))

    assert collected == [(6, 30_000), (0, 0), (4, 20_000), (1, 5_000)]
    billing = project(ours)
    [(day, figures)] = billing["days"].items()
    assert figures == {
        "posts": 10,
        "users": 0,
        "spent_micro": 50_000,
        "requests": 3,
        "refused": 0,
    }
    assert (billing["distinct"], billing["requests"], billing["spent_micro"]) == (
        10,
        3,
        50_000,
    )
    assert day == ours.fake("GET", "clock")["billing_day"]
    totals = ours.fake("GET", "totals")["billed"]
    assert (totals["ours"], totals["theirs"]) == ({day: 10}, {day: 1})


def test_after_midnight_of_the_billing_clock_a_post_costs_again(ours):
    ids = ours.live_ids(5)

    days = []
    for offset_s in (0, 86_400):
        ours.fake("PUT", "clock", {"billing_offset_s": offset_s})
        ours.tweets(ids, token="a")
        days.append(ours.entry()["billed_day"])

    shown = project(ours)
    assert [(day, shown["days"][day]["posts"]) for day in days] == [(days[0], 5), (days[1], 5)]
    assert days[0] < days[1]
    assert (shown["posts"], shown["distinct"]) == (10, 5)


def test_hidden_and_missing_posts_and_included_authors_cost_nothing(ours):
    shown, hidden = ours.live_ids(2)
    ours.fake("PUT", f"tweets/{hidden}", {"state": "protected"})

    body = ours.tweets([shown, hidden, str(2**62)], token="a", expansions="author_id").json()

    assert (len(body["data"]), len(body["errors"]), len(body["includes"]["users"])) == (1, 2, 1)
    assert billed(ours.entry()) == (1, 5_000)
    assert project(ours)["users"] == 0


@pytest.mark.parametrize(
    "kind",
    ["429", "429_cap", "402_credits", "401", "403", "500", "503_text", "html", "garbage_list"],
)
def test_a_failed_request_costs_nothing(ours, kind):
    ours.fake("PUT", "faults", [{"kind": kind, "match": {"endpoint": "GET /2/tweets"}}])

    ours.tweets(ours.ids(5), token="a")

    assert ours.entry()["fault"] == kind
    assert billed(ours.entry()) == (0, 0)
    assert posts(ours) == 0


def test_requests_that_x_refuses_cost_nothing(ours):
    ours.fake("PUT", "limits", {"GET /2/tweets": {"token": 1}})

    bad, late = ours.tweets(["?"], token="a"), ours.tweets(ours.ids(5), token="a")

    assert (bad.status_code, late.status_code) == (400, 429)
    assert posts(ours) == 0


@pytest.mark.parametrize(
    ("kind", "paid"),
    [("reset", 0), ("lose_answer", 4), ("truncated", 4), ("bad_chunk", 4), ("slow", 4)],
)
def test_a_lost_answer_is_billed(ours, kind, paid):
    ids = ours.live_ids(4)
    ours.fake("PUT", "faults", [{"kind": kind, "params": {"ms": 1}}])

    try:
        assert ours.tweets(ids, token="a").status_code == 200
    except (requests.RequestException, ValueError):
        assert kind != "slow"

    assert posts(ours) == paid
    assert ours.entry()["billed_posts"] == paid


def test_ids_left_out_or_denied_cost_nothing_and_broken_ones_do(ours):
    omitted, denied, broken, whole = ids = ours.live_ids(4)
    kinds = {"omit": omitted, "not_found": denied, "broken": broken}
    rules = [{"kind": kind, "match": {"ids": [id]}} for kind, id in kinds.items()]
    ours.fake("PUT", "faults", rules)

    data = ours.tweets(ids, token="a").json()["data"]

    assert {tweet["id"] for tweet in data} == {broken, whole}
    assert billed(ours.entry()) == (2, 10_000)


def test_users_have_a_price_of_their_own_and_prices_can_be_set(ours):
    live = [a["id"] for a in ours.fake("GET", "authors")["authors"] if a["state"] == "live"][:3]
    ours.fake("PUT", "projects/ours", {"price_post_micro": 7})

    for _ in range(2):
        ours.get("/2/users", ids=",".join([*live, "5"]), token="a")
        ours.tweets(ours.live_ids(2), token="a")

    shown = project(ours)
    assert (shown["users"], shown["posts"]) == (3, 2)
    assert shown["spent_micro"] == 3 * 10_000 + 2 * 7


def test_terms_without_a_project_apply_to_all(ours):
    first, second = ours.live_ids(2)
    ours.tweets([first], token="a")
    ours.fake("PUT", "projects", {"price_post_micro": 1_000})

    for token in ("a", "c"):
        ours.tweets([second], token=token)

    assert project(ours)["spent_micro"] == 6_000
    assert project(ours, "theirs")["spent_micro"] == 1_000


def test_version_one_is_not_billed_by_the_post(ours):
    ours.get("/1.1/statuses/lookup.json", id=",".join(ours.live_ids(3)), token="a")

    assert posts(ours) == 0


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("depleted", ["credits", "credits-depleted"])
def test_too_few_credits_are_a_402_in_the_chosen_form(ours, depleted, host):
    ours.fake("PUT", "world", {"depleted": depleted, "problem_host": host})
    ours.fake("PUT", "projects/ours", {"credits_micro": 25_000})
    ids = ours.live_ids(6)

    reply = ours.tweets(ids, token="a")

    shapes = {
        "credits": {
            "account_id": 1700000000000000000,
            "title": "CreditsDepleted",
            "detail": "Your enrolled account [1700000000000000000] does not have any credits to "
            "fulfill this request.",
            "type": f"https://{host}/2/problems/credits",
        },
        "credits-depleted": {
            "detail": "credits depleted",
            "status": 402,
            "title": "Payment Required",
            "type": f"https://{host}/2/problems/credits-depleted",
        },
    }
    assert (reply.status_code, reply.json()) == (402, shapes[depleted])
    assert ours.entry()["refused_for"] == "credits"
    assert (posts(ours), project(ours)["refused"]) == (0, 1)


def test_posts_paid_today_are_shown_after_credits_ran_out(ours):
    ours.fake("PUT", "projects/ours", {"credits_micro": 15_000})
    paid, new = (ids := ours.live_ids(4))[:3], ids[3:]

    statuses = [ours.tweets(asked, token="a").status_code for asked in (paid, new, paid)]
    ours.fake("PUT", "projects/ours", {"empty_refuses_all": True})
    strictly = ours.tweets(paid, token="a").status_code

    assert (statuses, strictly) == ([200, 402, 200], 402)
    assert project(ours)["credits_micro"] == 0


def test_a_month_has_a_spend_limit(ours):
    ours.fake("PUT", "projects/ours", {"spend_limit_micro": 10_000})
    ids = ours.live_ids(3)

    statuses = [ours.tweets([id], token="a").status_code for id in ids]
    ours.fake("PUT", "clock", {"billing_offset_s": 31 * 86_400})
    next_month = ours.tweets(ids[:2], token="a").status_code

    assert (statuses, next_month) == ([200, 200, 402], 200)


def test_a_reached_cap_is_a_429_with_room_in_the_window(ours):
    ours.fake("PUT", "projects/ours", {"monthly_cap": 3})
    ids = ours.live_ids(4)

    allowed, capped = ours.tweets(ids[:3], token="a"), ours.tweets(ids[3:], token="b")
    again = ours.tweets(ids[:3], token="b")

    assert (allowed.status_code, capped.status_code, again.status_code) == (200, 429, 200)
    assert capped.json() == CAPPED
    assert int(capped.headers["x-rate-limit-remaining"]) > 0
    assert project(ours)["months"][ours.entry()["billed_day"][:7]]["posts"] == 3
    assert ours.fake("GET", "totals")["over_window"] == 0


def test_reads_of_other_apps_count_in_cap_and_money(ours):
    ours.fake("PUT", "projects/ours", {"monthly_cap": 100, "credits_micro": 1_000_000})

    ours.fake("PUT", "projects/ours", {"others_today": 90})
    ours.fake("PUT", "projects/ours", {"others_today": 99})

    assert project(ours)["spent_micro"] == 99 * 5_000
    assert project(ours)["credits_micro"] == 1_000_000 - 99 * 5_000
    assert ours.tweets(ours.live_ids(2), token="a").status_code == 429
    assert ours.tweets(ours.live_ids(1), token="a").status_code == 200


@pytest.mark.parametrize(
    "terms", [{"colour": 1}, {"price_post_micro": None}, {"monthly_cap": -1}, {"usage_lag_s": 9999}]
)
def test_invalid_terms_are_refused_whole(ours, terms):
    reply = ours.session.put(f"{ours.url}/_fake/projects/ours", json={"usage_drift": 5, **terms})

    assert reply.status_code == 400
    assert project(ours)["usage_drift"] == 0


def test_only_the_owner_of_an_app_reads_its_own_page_cheaper(ours):
    owner, other = ours.authors(2)
    tokens = {"client_id": "client", "access_token": "owner", "refresh_token": "r"}
    named = {"app": "a", "project": "ours", "user_id": owner}
    ours.fake("POST", "credentials", {"kind": "oauth2", **tokens, **named})
    ours.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "app", **named})
    for author in (owner, other):
        ours.release(authors=[author], count=5, rate=1e6)

    def cost(token, author):
        before = project(ours)["spent_micro"]
        shown = ours.get(f"/2/users/{author}/tweets", token=token, max_results="5").json()
        assert shown["meta"]["result_count"] == 5
        return project(ours)["spent_micro"] - before

    assert [cost("owner", owner), cost("owner", other)] == [5 * 1_000, 5 * 5_000]
    ours.fake("DELETE", "projects")
    assert cost("app", owner) == 5 * 5_000
