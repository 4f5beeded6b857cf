"""The API as a program asks it: with a token, JSON in and out."""

import json
import re
from functools import cache
from http import HTTPStatus

import pytest
from django.contrib.auth.models import Permission, User
from django.core.signals import request_finished
from django.db import close_old_connections

from trackers.api.urls import api
from trackers.tokens.models import ApiToken


@pytest.fixture(autouse=True)
def _plain_http(settings):
    settings.SECURE_SSL_REDIRECT = False


def token_of(user, scope="admin"):
    return ApiToken(user=user, name="a test", scope=scope).save_with_secret()


class Program:
    """It keeps the last status, headers and body beside what was answered.

    Of a problem it gives what is said as `error`, after a look at its form.
    """

    def __init__(self, client, user, scope="admin"):
        self.client, self.user, self.token = client, user, token_of(user, scope)
        self.status = self.headers = self.body = None

    def ask(self, method, path, body=None, **headers):
        answer = self.raw(path, method, body, **headers)
        self.status, self.headers = answer.status_code, answer.headers
        content = answer.getvalue() if answer.streaming else answer.content
        is_json = answer.get("Content-Type", "").partition(";")[0].endswith(("/json", "+json"))
        self.body = None if not content else json.loads(content) if is_json else content.decode()
        return self.body if self.status < 400 else of_problem(answer, self.body)

    def raw(self, path, method="GET", body=None, **headers):
        """The answer itself, after a look whether openapi.json has its status."""
        fields = body if isinstance(body, str | bytes) else json.dumps(body)
        answer = self.client.generic(
            method,
            f"/api/v1/{path}",
            "" if body is None else fields,
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.token}"} | headers,
        )
        known = documented().get((template(answer), method))
        assert known is None or answer.status_code in known, (method, path, answer.status_code)
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body=None, **headers):
        return self.ask("POST", path, body, **headers)

    def put(self, path, body=None):
        return self.ask("PUT", path, body)

    def delete(self, path):
        return self.ask("DELETE", path)


@cache
def documented():
    """The statuses of each address and method."""
    return {
        (path.removeprefix("/"), method.upper()): {int(status) for status in one["responses"]}
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method, one in methods.items()
    }


def template(answer):
    """Its address, with the names of its parts as openapi.json has them."""
    route = answer.resolver_match.route if answer.resolver_match else ""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)


def end(answer):
    """Close it as a server does; the test's connection stays open, as the client keeps it."""
    request_finished.disconnect(close_old_connections)
    answer.close()
    request_finished.connect(close_old_connections)


def of_problem(answer, problem):
    assert answer["Content-Type"] == "application/problem+json"
    plain = {name: problem.pop(name) for name in ("type", "title", "status")}
    status = answer.status_code
    assert plain == {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    assert problem["detail"].endswith((".", "…"))
    more = {name: value for name, value in problem.items() if name not in ("detail", "errors")}
    problem.update(plain)
    return {"error": problem["detail"], **more}


def allowed(user, *codenames):
    user.user_permissions.add(*Permission.objects.filter(codename__in=codenames))
    return user


@pytest.fixture
def program(client, db):
    """Of a user who may see tweets and sources, and nothing else."""
    return Program(client, allowed(User.objects.create_user("ada"), "view_tweet", "view_source"))


@pytest.fixture
def owner(client, db):
    """Of a user who may do everything."""
    return Program(client, User.objects.create_superuser("olga"))


@pytest.fixture
def keeper(client, db):
    """Of a user who may use the store, and see homes."""
    user = allowed(User.objects.create_user("kim"), "use_timeline_store", "view_tweet")
    return Program(client, user)
