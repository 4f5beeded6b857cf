"""How long a browser takes to paint a curve once its data is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Painted: the frame after the one in which the chart says that it is drawn. The data is there when
# the last byte of it is.
WATCH = """
    window.painted = new Promise((tell) => {
        new MutationObserver((_, follower) => {
            if (!document.querySelector("#chart[data-ready]")) return;
            follower.disconnect();
            requestAnimationFrame(() => setTimeout(() => {
                const [data] = performance.getEntriesByType("resource").filter(
                    (one) => one.name.includes("series.json"));
                tell({ took: performance.now() - data.responseEnd,
                       points: Number(document.querySelector("#chart").dataset.points) });
            }));
        }).observe(document, { subtree: true, childList: true, attributes: true,
                               attributeFilter: ["data-ready"] });
    });
"""


def painted(base: str, entered: Mapping[str, Any], path: str, *, rounds: int) -> list[float]:
    """Milliseconds from the data to the picture, each time in a page of its own; none where there
    is no Chromium. RuntimeError if nothing is drawn."""
    from playwright.sync_api import sync_playwright

    from tests.conftest import CHROMIUM
    from tests.pages.chromium import FLAGS

    if not CHROMIUM:
        return []
    took = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        name, value = entered["cookie"]
        context.add_cookies([{"name": name, "value": value, "url": base}])
        context.add_init_script(WATCH)
        # The first page also fetches the scripts.
        for number in range(rounds + 1):
            page = context.new_page()
            page.goto(base + path)
            paints = page.evaluate("window.painted")
            page.close()
            if not paints["points"]:
                raise RuntimeError(f"{path} draws no points.")
            if number:
                took.append(paints["took"])
        browser.close()
    return took
