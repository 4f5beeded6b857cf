import pytest

from tests.ingest.polls.steps import accounts, connect
from tests.x import peer

__all__ = ["account", "peer", "x"]


@pytest.fixture
def x(fakex, settings):
    return connect(fakex, settings)


@pytest.fixture
def account(x):
    return accounts(x, 1)[0]
