"""Makes a file beside this one from a version of X's OpenAPI document.

    python -m tests.xapi.openapi CLONE COMMIT

CLONE is a clone of https://github.com/xdevplatform/docs; all versions are in its history. What is
kept are the facts that a request or an answer can be held against, of the endpoints below, as JSON
Schema (2020-12): names, types, what is required, enums, lengths, bounds and patterns; and which
tokens may ask.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

# Those that the product asks, that the fake answers, or that clients ask first.
PATHS = (
    "/2/connections",
    "/2/connections/all",
    "/2/connections/{endpoint_id}",
    "/2/lists/{id}",
    "/2/lists/{id}/tweets",
    "/2/tweets",
    "/2/tweets/counts/all",
    "/2/tweets/counts/recent",
    "/2/tweets/search/all",
    "/2/tweets/search/recent",
    "/2/tweets/search/stream",
    "/2/tweets/search/stream/rules",
    "/2/tweets/search/stream/rules/counts",
    "/2/tweets/{id}",
    "/2/usage/credits",
    "/2/usage/tweets",
    "/2/users",
    "/2/users/by",
    "/2/users/by/username/{username}",
    "/2/users/me",
    "/2/users/{id}",
    "/2/users/{id}/mentions",
    "/2/users/{id}/tweets",
)
# What only changes things; neither the product nor the fake has them.
_UNUSED = {"PUT /2/lists/:id", "DELETE /2/lists/:id", "POST /2/tweets", "DELETE /2/tweets/:id"}
_KEPT = frozenset(
    {
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "type",
        "uniqueItems",
    }
)
# Of OpenAPI, not of JSON Schema; the ranges of numbers are kept as bounds.
_FORMATS = frozenset({"date-time", "uri"})
_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
Schema = dict[str, Any]


class Compact:
    """The facts of one document; `definitions` grows with what the endpoints refer to."""

    def __init__(self, document: Schema) -> None:
        self._document = document
        self.definitions: dict[str, Schema] = {}

    def endpoints(self) -> dict[str, Schema]:
        endpoints = {}
        for path in PATHS:
            for method, operation in self._document["paths"].get(path, {}).items():
                name = method.upper() + " " + re.sub(r"{(.*?)}", r":\1", path)
                if name not in _UNUSED:
                    endpoints[name] = self._endpoint(operation)
        return endpoints

    def _endpoint(self, operation: Schema) -> Schema:
        parameters = [self._parameter(one) for one in operation.get("parameters", ())]
        facts: Schema = {
            "parameters": {
                "type": "object",
                "properties": {one["name"]: one["schema"] for one in parameters},
                "required": [one["name"] for one in parameters if one.get("required")],
                "additionalProperties": False,
            }
        }
        facts["security"] = {
            kind: scopes for allowed in operation["security"] for kind, scopes in allowed.items()
        }
        if body := operation.get("requestBody"):
            facts["body"] = self._schema(body["content"]["application/json"]["schema"])
        facts["answers"] = {
            f"{status} {kind}": self._schema(content["schema"])
            for status, answer in operation["responses"].items()
            for kind, content in answer.get("content", {}).items()
        }
        return facts

    def _parameter(self, parameter: Schema) -> Schema:
        """Its name, its schema, and whether it is required; a shared schema is defined once."""
        if "$ref" not in parameter:
            return {**parameter, "schema": self._schema(parameter["schema"])}
        name, whole = parameter["$ref"].rpartition("/")[2], self._at(parameter["$ref"])
        self.definitions[name] = self._schema(whole["schema"])
        return {**whole, "schema": {"$ref": f"#/$defs/{name}"}}

    def _at(self, reference: str) -> Any:
        place = self._document
        for name in reference.removeprefix("#/").split("/"):
            place = place[name]
        return place

    def _schema(self, schema: Schema) -> Schema:
        facts: Schema = {}
        for key, value in schema.items():
            if key == "properties":
                facts[key] = {name: self._schema(inner) for name, inner in value.items()}
            elif key == "$ref":
                facts[key] = self._define(value)
            elif key == "format":
                facts |= _of_format(value)
            elif key in _KEPT:
                facts[key] = self._value(value)
        facts = {**facts, **{key: schema[key] for key in ("minimum", "maximum") if key in schema}}
        return _or_null(facts) if schema.get("nullable") else facts

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._schema(value)
        if isinstance(value, list):
            return [self._value(one) for one in value]
        return value

    def _define(self, reference: str) -> str:
        name = reference.rpartition("/")[2]
        if name not in self.definitions:
            self.definitions[name] = {}
            schema = self._at(reference)
            if "discriminator" in schema:
                self._define_by_kind(name, schema)
            else:
                self.definitions[name] = self._schema(schema)
        return f"#/$defs/{name}"

    def _define_by_kind(self, name: str, schema: Schema) -> None:
        """What has a kind for each value of one property.

        Its kinds are made of what all have (`allOf`), or they are listed (`oneOf`): then all have
        the properties that each of them has.
        """
        chosen_by = schema["discriminator"]
        kinds, chooser = chosen_by["mapping"], chosen_by["propertyName"]
        common = self._schema({key: schema[key] for key in schema if key != "oneOf"})
        if "oneOf" in schema:
            each = [self._at(kind)["properties"] for kind in kinds.values()]
            shared = set.intersection(*map(set, each)) - {chooser}
            common["properties"] = {one: self._schema(each[0][one]) for one in sorted(shared)}
            common["properties"][chooser] = {"type": "string"}
        self.definitions["Any" + name] = common
        self.definitions[name] = {
            "allOf": [
                {"$ref": "#/$defs/Any" + name},
                {"properties": {chooser: {"enum": sorted(kinds)}}},
                *(
                    {
                        "if": {"properties": {chooser: {"const": value}}, "required": [chooser]},
                        "then": {"$ref": self._define(kind)},
                    }
                    for value, kind in sorted(kinds.items())
                ),
            ]
        }
        for kind in kinds.values():
            for part in self.definitions[kind.rpartition("/")[2]].get("allOf", ()):
                if part.get("$ref") == "#/$defs/" + name:
                    part["$ref"] = "#/$defs/Any" + name


def _or_null(schema: Schema) -> Schema:
    if "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, **values, "type": [schema["type"], "null"]}


def _of_format(name: str) -> Schema:
    if name in _RANGES:
        low, high = _RANGES[name]
        return {"minimum": low, "maximum": high}
    return {"format": name} if name in _FORMATS else {}


def compact(document: Schema, source: str) -> str:
    """The file's text: an endpoint or a definition a line."""
    facts = Compact(document)
    endpoints = facts.endpoints()
    sections = {"endpoints": endpoints, "$defs": facts.definitions}
    lines = ",\n".join(
        f"{json.dumps(section)}: {{\n"
        + ",\n".join(
            f" {json.dumps(name)}: {json.dumps(entries[name], separators=(',', ':'))}"
            for name in sorted(entries)
        )
        + "\n}"
        for section, entries in sections.items()
    )
    about = {"source": source, "version": document["info"]["version"]}
    return "{" + json.dumps(about)[1:-1] + ",\n" + lines + "\n}\n"


def main() -> None:
    clone, commit = sys.argv[1:]

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", clone, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    name, day = git("log", "-1", "--format=%h %cs", commit).split()
    document = json.loads(git("show", f"{commit}:openapi.json"))
    source = f"github.com/xdevplatform/docs, openapi.json, commit {name}, {day}"
    target = Path(__file__).parent / f"{document['info']['version']}.json"
    target.write_text(compact(document, source))
    print(f"{target}: {target.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
