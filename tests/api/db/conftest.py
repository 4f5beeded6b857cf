import pytest

from tests.standbys.fence import pages_only_read  # noqa: F401

COUNTING = {"django_assert_num_queries", "django_assert_max_num_queries"}


@pytest.fixture(autouse=True)
def _calls_only_read(request):
    """Those that a standby may answer. Where statements or rows of uses are counted, those of
    reading elsewhere would be among them."""
    if not COUNTING & {*request.fixturenames} and request.path.stem != "test_limits":
        request.getfixturevalue("pages_only_read")
