"""What sticks out of its box, wherever nothing can be scrolled to see it."""

from __future__ import annotations

# Every card, and every element with words of its own, against the boxes around it, up to one that
# scrolls.
SPILLS = """() => {
    const said = (one) => one.tagName.toLowerCase() + (one.id ? '#' + one.id : '')
        + (one.className && one.className.split ? '.' + one.className.split(' ').join('.') : '');
    const found = [];
    for (const one of document.querySelectorAll('main *')) {
        const words = one.matches('.card, .act, button, input') || [...one.childNodes].some(
            (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
        const box = one.getBoundingClientRect();
        if (!words || !box.width || !one.checkVisibility() || one.closest('.hidden, svg, .uplot'))
            continue;
        const right = box.left + Math.max(one.scrollWidth, box.width);
        for (let around = one.parentElement; around; around = around.parentElement) {
            const { overflowX } = getComputedStyle(around);
            if (overflowX !== 'visible') break;
            const edge = around.tagName === 'MAIN' ? innerWidth
                : around.getBoundingClientRect().right;
            if (around.matches('main, .panel, article, .card') && right > edge + 1) {
                found.push(`${said(one)} “${one.textContent.trim().slice(0, 40)}” sticks out of `
                    + `${said(around)} by ${Math.round(right - edge)} px`);
                break;
            }
        }
    }
    const wide = document.documentElement.scrollWidth - innerWidth;
    if (wide > 0) found.push(`the page is ${wide} px wider than the screen`);
    const head = document.querySelector('.top');
    if (head && innerWidth >= 1280 && head.offsetHeight > 64) found.push('the head has two rows');
    return found;
}"""


def spills(page, address):
    return [f"{address}: {one}" for one in page.evaluate(SPILLS)]
