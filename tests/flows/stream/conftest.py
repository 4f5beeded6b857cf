"""The filtered stream as a person runs it: a process of its own, and a fake X."""

import pytest

from tests.flows.conftest import wait_until
from tests.flows.streaming import Streaming


@pytest.fixture
def stream(product):
    streaming = Streaming(product)
    yield streaming
    streaming.end()


@pytest.fixture
def open_stream(stream):
    """With a credential, one source, and one process that is connected."""
    stream.product.give_credential()
    stream.moon = stream.source("#moon")
    stream.process = stream.start()
    wait_until(stream.is_open, what="the stream is open")
    return stream
