"""Rules of the stream, as a client sets them."""

from fakex.tests.listener import PATH

RULES = PATH + "/rules"
PROBLEMS = "https://api.twitter.com/2/problems/"


def change_rules(x, body=None, *, token="any", **params):
    headers = {"Authorization": f"Bearer {token}"}
    return x.session.post(x.url + RULES, json=body, params=params, headers=headers)


def add_rule(x, *values, tag="a"):
    reply = change_rules(x, {"add": [{"value": value, "tag": tag} for value in values]})
    assert reply.status_code == 201, reply.text
    return [rule["id"] for rule in reply.json()["data"]]
