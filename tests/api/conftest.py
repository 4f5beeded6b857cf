"""The API as a program asks it: with a token, JSON in and out."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Permission, User

from trackers.tokens import api_tokens
from trackers.tokens.models import ApiToken


@pytest.fixture(autouse=True)
def _plain_http(settings):
    settings.SECURE_SSL_REDIRECT = False


def token_of(user):
    return api_tokens.save(ApiToken(user=user, name="a test"))


class Program:
    """It keeps the last status beside what was answered."""

    def __init__(self, client, user):
        self.client, self.user, self.token = client, user, token_of(user)
        self.status = None

    def ask(self, method, path, body=None, **headers):
        given = body if isinstance(body, str) else json.dumps(body)
        answer = self.client.generic(
            method,
            f"/api/v1/{path}",
            "" if body is None else given,
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.token}"} | headers,
        )
        self.status = answer.status_code
        return json.loads(answer.content) if answer.content else None

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body):
        return self.ask("POST", path, body)

    def put(self, path, body=None):
        return self.ask("PUT", path, body)

    def delete(self, path):
        return self.ask("DELETE", path)


@pytest.fixture
def program(client, db):
    """Of a user with no permission at all."""
    return Program(client, User.objects.create_user("ada"))


@pytest.fixture
def keeper(client, db):
    """Of a user who may use the store."""
    user = User.objects.create_user("kim")
    user.user_permissions.add(Permission.objects.get(codename="use_timeline_store"))
    return Program(client, user)
