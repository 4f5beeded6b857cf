"""The fake X as one version of X's document has it, asked through a relay for all that it says."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode

import requests

from fakex import endpoints as fake_endpoints
from tests.x import wait_until
from tests.xapi.openapi import Document
from tests.xapi.openapi.relay import Relay
from trackers.xapi.vocabulary import POSTS, TWEETS

WORLDS = {
    "2.166": {"vocabulary": TWEETS, "problem_host": "api.twitter.com", "usage_numbers": "ints"},
    "2.167": {"vocabulary": POSTS, "problem_host": "api.x.com", "usage_numbers": "strings"},
}
_USUAL = {"vocabulary": "both", "usage_numbers": "strings", "search_newest_s": 30}
USUAL_WORLD = {**WORLDS["2.166"], **_USUAL}
_SCOPES = ("token", "app", "project", "user_a_day", "app_a_day", "app_a_second")
UNLIMITED = dict.fromkeys(_SCOPES)
AT_ONCE = {"usual_ms": 0, "late_share": 0, "very_late_share": 0}
QUERY = "#moon"
LIST = "34"
NO_POST = "9" * 19
APP, USER = "a-token", "access-of-user"
# X has them, its documents have not: the API of before, and tokens of OAuth 2.0.
_ELSEWHERE = {"GET /1.1/statuses/lookup", "POST /2/oauth2/token"}
# A larger number is no bound of X's, but its type's.
_HIGHEST = 1_000_000


def endpoints_in(module):
    """The endpoints that a module names, but for those that no document has."""
    values = [
        value
        for constant in vars(module).values()
        for value in (constant.values() if isinstance(constant, dict) else [constant])
        if isinstance(value, str)
    ]
    return {one for one in values if re.match(r"[A-Z]+ /\d", one)} - _ELSEWHERE


class DocumentedFake:
    """Has accounts and posts in all states. `asking` is how the product asks it."""

    def __init__(self, fakex, version):
        self.fakex, self.document = fakex, Document(version)
        self.relay = Relay(fakex.url)
        self._session = requests.Session()
        self.asking = {"base_url": self.relay.url, "timeout": timedelta(seconds=20)}
        fakex.put("world", WORLDS[version])
        fakex.put("stream", {"rule_delay_s": 0})
        ours = {"kind": "bearer", "name": "ours", "bearer_token": APP, "project": "ours"}
        fakex.tell("POST", "credentials", ours)
        user = {"kind": "oauth2", "name": "user", "access_token": USER, "user_id": ""}
        tokens = {"client_id": "client", "refresh_token": "refresh"}
        fakex.tell("POST", "credentials", {**user, **tokens})
        fakex.put("projects/ours", {"credits_micro": 48_200_000})
        self.ids = [str(id) for id in fakex.ids(99)]
        # Its new version is a post more of its author, who is anybody: the ids tell, and they
        # follow the time at which the fake began.
        editor = fakex.get(f"tweets/{self.ids[2]}")["author_id"]
        self.people = fakex.get("authors")["authors"][:90]
        steady = [one for one in self.people if one["steady"] and one["id"] != editor]
        self.author, suspended, protected = steady[:3]
        fakex.put(f"authors/{suspended['id']}", {"state": "suspended"})
        fakex.put(f"authors/{protected['id']}", {"state": "protected"})
        self.hidden = [suspended, protected]
        fakex.put(f"lists/{LIST}", {"members": [self.author["id"]]})
        fakex.put(f"contents/{self.ids[0]}", {"text": "#stars " * 50, "media_keys": ["3_1"]})
        linked = {"text": "$TWTR at https://example.org/a #stars", "media_keys": ["3_2"]}
        fakex.put(f"contents/{self.ids[3]}", linked)
        withheld = {"copyright": False, "country_codes": ["DE"], "scope": "tweet"}
        fakex.put(f"contents/{self.ids[1]}", {"withheld": withheld})
        fakex.tell("POST", f"edits/{self.ids[2]}", {"text": "edited"})
        # What the fake has and the document describes.
        self.endpoints = endpoints_in(fake_endpoints) & self.document.endpoints.keys()
        self._limits = fakex.get("limits")
        fakex.put("limits", dict.fromkeys(self.endpoints, UNLIMITED))

    def close(self):
        self._session.close()
        self.fakex.delete("stream")
        self.fakex.put("limits", self._limits)
        self.fakex.put("world", USUAL_WORLD)
        self.relay.close()

    def release(self, *, count=300, rate=100):
        """Posts of the author about our query, of all kinds, which appear by and by."""
        shares = {"replies": 0.2, "retweets": 0.1, "quotes": 0.2, "mentions": 0.5, "links": 0.5}
        flow = {"authors": [self.author["id"]], "rate": rate, "count": count, "lag": AT_ONCE}
        self.fakex.tell("POST", "posts", {**flow, "tags": ["moon"], "tagged": 1, **shares})

    def visible(self, **which):
        """The ids of these posts, the newest first: the author's, or what a search finds."""
        query = urlencode(which or {"author": self.author["id"]})
        posts = self.fakex.get(f"visible?{query}")["posts"]
        return sorted((post["id"] for post in posts if post["state"] == "live"), reverse=True)

    def has_stream(self):
        return self.fakex.get("stream")["open"] != []

    def ask(self, endpoint, *, token=None, body=None, stream=False, **parameters):
        """Ask; what is in the path is taken from the parameters, or else is usual."""
        method, path = endpoint.split()
        if token is None:
            token = APP if self.takes(endpoint, "BearerToken") else USER
        ids = {"users": self.author["id"], "tweets": self.ids[0], "lists": LIST}
        usual = {"username": self.author["username"], "id": ids.get(path.split("/")[2])}
        path = re.sub(r":(\w+)", lambda name: parameters.pop(name[1], usual[name[1]]), path)
        return self._session.request(
            method,
            self.relay.url + path,
            params=parameters,
            json=body,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            stream=stream,
            timeout=20,
        )

    def listen(self, *, farewell=None, **parameters):
        """A stream until its end: with this farewell, or after some sixty posts."""
        wait_until(lambda: not self.has_stream())
        with self.ask("GET /2/tweets/search/stream", stream=True, **parameters) as reply:
            assert reply.status_code == 200, reply.text
            if farewell:
                self.fakex.tell("POST", "stream/disconnect", {"type": farewell})
                return reply.content
            self.release()
            heard, is_ending = b"", False
            for piece in reply.iter_content(None):
                heard += piece
                if heard.count(b"matching_rules") > 60 and not is_ending:
                    self.fakex.tell("POST", "stream/close")
                    is_ending = True
        return heard

    def reading(self):
        """The endpoints that only read, but the stream."""
        return sorted(
            one for one in self.endpoints if one.startswith("GET") and not one.endswith("/stream")
        )

    def takes(self, endpoint, kind):
        """Whether this kind of token may ask."""
        return kind in self.document.endpoints[endpoint]["security"]

    def needed(self, endpoint):
        """Good values of the parameters without which it refuses."""
        usual = {
            "ids": ",".join(self.ids if "tweets" in endpoint else self._of_people("id")),
            "usernames": ",".join(self._of_people("username")),
            "query": QUERY,
        }
        required = self.document.endpoints[endpoint]["parameters"]["required"]
        return {name: usual[name] for name in usual if name in required}

    def _of_people(self, name):
        return [person[name] for person in self.people]

    def all_fields(self, endpoint):
        """Every field and every expansion."""
        names = {
            name: self.document.names(endpoint, name)
            for name in self.document.parameters(endpoint)
            if "." in name or name == "expansions"
        }
        return {name: ",".join(sorted(values)) for name, values in names.items() if values}

    def at_bounds(self, endpoint):
        """The least and the most of each number, and each value of those that are named."""
        for name, schema in self.document.parameters(endpoint).items():
            if schema.get("maximum", _HIGHEST) < _HIGHEST:
                yield from ({name: schema["minimum"]}, {name: schema["maximum"]})
            yield from ({name: value} for value in schema.get("enum", ()))

    def out_of_bounds(self, endpoint):
        """Values that the document does not allow, of each parameter."""
        yield {"unknown": "1"}
        for name, schema in self.document.parameters(endpoint).items():
            if schema.get("maximum", _HIGHEST) < _HIGHEST:
                yield from ({name: schema["minimum"] - 1}, {name: schema["maximum"] + 1})
            limits = schema.keys() | schema.get("items", {}).keys()
            if (
                limits & {"enum", "pattern", "format"} or schema.get("type") == "boolean"
            ) and "token" not in name:
                yield {name: "n-o"}
            if schema.get("maxItems", _HIGHEST) < _HIGHEST:
                yield {name: ",".join(map(str, range(1, schema["maxItems"] + 2)))}
        yield from ({name: None} for name in self.needed(endpoint))
