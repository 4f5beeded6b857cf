"""What X's OpenAPI documents say, and how a request or an answer differs from it.

Two versions, for X has two vocabularies: up to 2.166 posts have `tweet.fields`, from 2.167 on
`post.fields`. Each is a file beside this one, which `python -m tests.xapi.openapi` makes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl

from jsonschema_rs import Draft202012Validator

VERSIONS = ("2.166", "2.167")
# A schema that closes what it stands beside: it is not in X's documents, which say of no answer
# that it holds nothing else.
_CLOSED = {"unevaluatedProperties": False}


@dataclass(slots=True)
class Exchange:
    """A request and its answer, as both were on the wire."""

    method: str
    path: str
    query: str
    sent: bytes
    status: int = 0
    kind: str = ""  # the answer's content type
    answer: bytes = b""


class Document:
    """One version of X's document."""

    def __init__(self, version):
        facts = json.loads((Path(__file__).parent / f"{version}.json").read_text())
        self.version, self.source, self.endpoints = version, facts["source"], facts["endpoints"]
        self._definitions = facts["$defs"]
        self._closed = {name: self._close(one) for name, one in self._definitions.items()}
        self._validators = {}
        # What is named in full comes before what has a name in it.
        self._patterns = [
            (name, re.compile(re.sub(r":(\w+)", r"(?P<\1>[^/]+)", name) + r"\Z"))
            for name in sorted(self.endpoints, key=lambda name: name.count(":"))
        ]

    def endpoint_of(self, exchange):
        """Its name, and what its path says; None for one that the document does not have."""
        asked = f"{exchange.method} {exchange.path}"
        for name, pattern in self._patterns:
            if found := pattern.match(asked):
                return name, found.groupdict()
        return asked, None

    def parameters(self, endpoint):
        """The schemas of an endpoint's parameters, by name."""
        properties = self.endpoints[endpoint]["parameters"]["properties"]
        return {name: self._resolved(schema) for name, schema in properties.items()}

    def names(self, endpoint, parameter):
        """What may be listed in a parameter, as the names of fields; nothing where there is none.

        2.167 has forgotten those of two parameters.
        """
        schema = self.parameters(endpoint).get(parameter, {})
        return frozenset(schema.get("items", {}).get("enum", ()))

    def scopes(self, endpoint):
        """What a user must have allowed; None where only apps may ask."""
        return self.endpoints[endpoint]["security"].get("OAuth2UserToken")

    def differences(self, exchange):
        """How a request and its answer differ from the document, a line each; nothing if not."""
        endpoint, in_path = self.endpoint_of(exchange)
        if in_path is None:
            return [f"{endpoint} is not in the document"]
        facts = self.endpoints[endpoint]
        asked = f"{endpoint} asked"
        lines = self._differ(asked, facts["parameters"], self._asked(exchange, endpoint, in_path))
        if exchange.sent:
            body = facts.get("body", False)
            lines += self._differ(f"{asked} in its body", body, json.loads(exchange.sent))
        return lines + self._differences_of_answer(exchange, endpoint)

    def _differences_of_answer(self, exchange, endpoint):
        about = f"{endpoint} {exchange.status}"
        answers, kind = self.endpoints[endpoint]["answers"], exchange.kind.partition(";")[0]
        lines, schema = [], answers.get(f"{exchange.status} {kind}")
        if schema is None and exchange.status // 100 == 2:
            lines, schema = [f"{about}: another status"], answers.get(f"200 {kind}")
        elif schema is None:
            schema = answers.get(f"default {kind}")
        if schema is None:
            return [f"{about}: is {kind or 'nothing'}, which is not named"]
        # A stream is one line after another, and an empty one keeps it alive.
        bodies = filter(bytes.strip, exchange.answer.splitlines())
        for body in bodies:
            lines += self._differ(about, schema, json.loads(body))
        return list(dict.fromkeys(lines))

    def _asked(self, exchange, endpoint, in_path):
        schemas = self.parameters(endpoint)
        asked = [*in_path.items(), *parse_qsl(exchange.query, keep_blank_values=True)]
        twice = {name for name, _ in asked if [one for one, _ in asked].count(name) > 1}
        return {
            name: f"{name} twice" if name in twice else _read(schemas.get(name, {}), text)
            for name, text in asked
        }

    def _differ(self, about, schema, value):
        key = json.dumps(schema)
        if key not in self._validators:
            self._validators[key] = Draft202012Validator(
                {"allOf": [self._in_place(schema)], "$defs": self._closed}, validate_formats=True
            )
        return sorted(
            {
                f"{about}{_place(error.instance_path)}: {_words(error)}"
                for error in self._validators[key].iter_errors(value)
            }
        )

    def _close(self, schema):
        """The schema, in which each object that names its properties has no others."""
        if not isinstance(schema, dict):
            return schema
        closed = dict(schema)
        if "properties" in schema:
            closed["properties"] = {
                name: self._in_place(inner) for name, inner in schema["properties"].items()
            }
        if "items" in schema:
            closed["items"] = self._in_place(schema["items"])
        for parts in {"allOf", "anyOf", "oneOf"} & schema.keys():
            # What belongs together is closed as a whole; of several, each one.
            near = self._close if parts == "allOf" else self._in_place
            closed[parts] = [near(part) for part in schema[parts]]
        return closed

    def _in_place(self, schema):
        """Closed where it stands, unless it says nothing of what it holds."""
        closed = self._close(schema)
        if isinstance(schema, dict) and self._has_names(schema):
            return {**closed, **_CLOSED}
        return closed

    def _has_names(self, schema):
        whole = self._resolved(schema)
        if "additionalProperties" in whole:
            return False
        return "properties" in whole or any(map(self._has_names, whole.get("allOf", ())))

    def _resolved(self, schema):
        if "$ref" in schema:
            return self._definitions[schema["$ref"].rpartition("/")[2]]
        return schema


def _read(schema, text):
    """A parameter's value, of the type that is documented; as it is where it is none."""
    match schema.get("type"):
        case "array":
            # Lists stand between commas (`explode: false`; 2.166 forgets to say so of rules' ids).
            return [_read(schema["items"], value) for value in text.split(",")]
        case "integer" if re.fullmatch(r"-?\d+", text):
            return int(text)
        case "boolean" if text in ("true", "false"):
            return text == "true"
    return text


def _place(path):
    """Where in a body, without the numbers of what is in lists."""
    return "".join(" " + ("*" if isinstance(part, int) else part) for part in path)


def _words(error):
    """What is wrong, without values that differ from one answer to the next."""
    match error.kind.as_dict():
        case {"unexpected": names}:
            return f"has {', '.join(sorted(names))}, which is not named"
        case {"property": name}:
            return f"is without {name}"
        case {"types": types}:
            return f"is not of type {' or '.join(types)}"
        case {"options": _} | {"expected_value": _}:
            return f"{error.instance} is none of the values"
        case {"context": _}:
            return f"is not {error.kind.name} of several"
        case words:
            return f"{error.kind.name} {words}"
