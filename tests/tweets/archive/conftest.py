import logging
from uuid import uuid4

import pytest
from moto.server import ThreadedMotoServer

from tests.tweets.archive.outside import opened
from tests.tweets.archive.relay import Relay
from trackers.tweets.archive import read
from trackers.tweets.archive.bucket import S3Bucket
from trackers.tweets.archive.store import Directory

KEY, SECRET = "AKIAONEOFTHETESTS", "secretofthetests"


@pytest.fixture
def store(request, tmp_path, settings):
    """A directory, or what `on_both` asks for."""
    if getattr(request, "param", "directory") == "bucket":
        return request.getfixturevalue("bucket")
    settings.ARCHIVE = str(tmp_path / "archive")
    return Directory(tmp_path / "archive")


@pytest.fixture(scope="session")
def service():
    """The address of a service like S3."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(service, monkeypatch, settings):
    """A store of its own for each test, since connections are kept by its name."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", service)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    settings.ARCHIVE = f"s3://tweets-{uuid4()}/of/ours"
    store = S3Bucket(settings.ARCHIVE)
    s3, name, _ = opened(store)
    s3.create_bucket(Bucket=name)
    return store


@pytest.fixture
def relay(service, bucket, monkeypatch):
    """What stands between us and the bucket from here on, if it was not asked for anything yet."""
    with Relay(service) as relay:
        monkeypatch.setenv("AWS_ENDPOINT_URL", relay.address)
        yield relay


@pytest.fixture(autouse=True)
def archive_is_there():
    """Whatever another test met in this process."""
    read.absence.until = read.disuse.until = 0.0
