"""The .env: who may read it is told, and one that cannot be read is not taken for a missing one."""

import os
import pwd
from importlib import import_module

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from tweetwatch import env_file

NOBODY = 65534


@pytest.fixture
def file(tmp_path, settings):
    settings.ENV_FILE = tmp_path / ".env"
    settings.ENV_FILE.write_text("SECRET_KEY=here\n")
    settings.ENV_FILE.chmod(0o600)
    return settings.ENV_FILE


@pytest.fixture
def somebody(file, settings):
    """Another user than the file's owner; its name."""
    if os.geteuid() != 0:
        file.chmod(0)
        yield env_file.user_name()
        return
    # The checks import these, and nobody may not read the folders of every installation.
    import_module(settings.ROOT_URLCONF)
    os.seteuid(NOBODY)
    yield pwd.getpwuid(NOBODY).pw_name
    os.seteuid(0)


def warnings():
    return [one for one in run_checks() if one.id.startswith("tweetwatch.W")]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620])
def test_an_env_file_open_to_others_is_warned_of(file, mode):
    file.chmod(mode)

    [warning] = warnings()

    assert warning.id == "tweetwatch.W001"
    assert f"{file} (mode 0{mode:o})" in warning.msg
    assert warning.hint == f"chmod 600 {file}"


def test_a_private_or_missing_env_file_is_fine(file):
    assert warnings() == []
    file.unlink()
    assert warnings() == []


def test_an_unreadable_env_file_is_named_with_its_path_and_the_user(file, somebody, monkeypatch):
    monkeypatch.delenv("SECRET_KEY")

    with pytest.raises(ImproperlyConfigured) as refused:
        env_file.read_env_file(file)

    assert f"{file} cannot be read by the user {somebody} (Permission denied)" in str(refused.value)
    assert "SECRET_KEY is missing" not in str(refused.value)


def test_an_unreadable_env_file_only_warns_when_the_keys_are_in_the_environment(
    file, somebody, monkeypatch
):
    monkeypatch.setenv("SECRET_KEY", "x" * 50)
    monkeypatch.setenv("FIELD_KEYS", "a key")

    env_file.read_env_file(file)

    [warning] = warnings()
    assert warning.id == "tweetwatch.W002"
    assert f"cannot be read by the user {somebody}" in warning.msg


def test_a_folder_in_place_of_the_env_file_is_reported(tmp_path, monkeypatch):
    monkeypatch.delenv("FIELD_KEYS")
    (tmp_path / ".env").mkdir()

    with pytest.raises(ImproperlyConfigured, match=r"\.env cannot be read .*Is a directory"):
        env_file.read_env_file(tmp_path / ".env")
