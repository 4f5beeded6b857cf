import pytest

from tests.ingest.stream.listened import Listened


@pytest.fixture
def stream(fakex):
    return Listened(fakex)
