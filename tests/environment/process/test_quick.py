"""`make quick` is what its name says: nothing of it is a flow, needs a browser, or takes long."""

from __future__ import annotations

SLOW = ("alone", "browser", "more")
# What starts processes.
STARTS = {"Demo", "Popen", "Product"}


def test_those_are_neither_flows_nor_slow(request):
    quick = [one for one in request.session.items if one.get_closest_marker("quick")]

    assert request.node in quick
    for one in quick:
        assert "flows" not in one.path.parts
        assert not any(one.get_closest_marker(name) for name in SLOW)
        assert not STARTS & set(one.function.__code__.co_names), one.nodeid
