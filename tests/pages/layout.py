"""What sticks out of its box, wherever nothing can be scrolled to see it."""

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
    // A note below a figure, and not over it.
    for (const note of document.querySelectorAll('main .note')) {
        const above = note.previousElementSibling;
        if (!above || !note.checkVisibility() || !above.checkVisibility()) continue;
        const [a, b] = [above.getBoundingClientRect(), note.getBoundingClientRect()];
        if (b.top < a.bottom - 2 && b.bottom > a.top && a.left < b.right && b.left < a.right)
            found.push(`“${note.textContent}” lies over “${above.textContent.trim()}”`);
    }
    // What only a screen reader says would widen the page from inside a box that scrolls.
    for (const one of document.querySelectorAll('.hidden')) {
        let box = one.parentElement;
        while (box && !/auto|scroll/.test(getComputedStyle(box).overflow)) box = box.parentElement;
        if (box && one.offsetParent && !box.contains(one.offsetParent))
            found.push(`${said(one)} “${one.textContent.trim()}” is not held by ${said(box)}`);
    }
    const wide = document.documentElement.scrollWidth - innerWidth;
    if (wide > 0) found.push(`the page is ${wide} px wider than the screen`);
    const head = document.querySelector('.top');
    if (head && innerWidth >= 1280 && head.offsetHeight > 64) found.push('the head has two rows');
    return found;
}"""


def spills(page, address):
    return [f"{address}: {one}" for one in page.evaluate(SPILLS)]


# In the admin: buttons over words or a list, a rule that is folded into a column of words, and
# fields that hug their labels.
CROWDED = """() => {
    const found = [];
    const box = (one) => one.getBoundingClientRect();
    const around = document.querySelectorAll('.interval-help, #cost, #changelist, .replan input');
    for (const button of document.querySelectorAll('.object-tools li')) {
        for (const one of around) {
            const [a, b] = [box(button), box(one)];
            if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
                found.push(`“${button.textContent.trim()}” lies over ${one.tagName} ${one.id}`);
        }
    }
    const list = document.querySelector('#changelist');
    if (list && box(list).right < box(document.querySelector('#content')).right - 60)
        found.push('a button narrows the list');
    const last = document.querySelector('#result_list .field-enabled:last-child input');
    if (last && innerWidth >= 1280 && box(last).right > box(list).right)
        found.push('the last column of the intervals is cut');
    for (const rule of document.querySelectorAll('#result_list .field-rule a'))
        if (box(rule).height > 62) found.push(`“${rule.textContent}” is folded`);
    for (const label of document.querySelectorAll('.aligned .form-row label')) {
        const field = label.parentElement.querySelector('input:not([type=checkbox]), select');
        const padding = parseFloat(getComputedStyle(label).paddingRight);
        if (field && box(field).left - box(label).right + padding < 4
                && box(field).top < box(label).bottom - 4)
            found.push(`“${label.textContent}” touches its field`);
    }
    return found;
}"""


def crowded(page, address):
    return [f"{address}: {one}" for one in page.evaluate(CROWDED)]
