"""Which pages there are: what the links of pages lead to, one of each name in the URL conf."""

import re
from urllib.parse import urljoin, urlsplit

from django.urls import Resolver404, get_resolver, resolve

WITHOUT_LOGIN = {"login": "/login/"}
# One of its pages stands for the admin.
ADMIN = "index"
LINK = re.compile(r'<a\b[^>]*\bhref="([^"#]+)"')
# Whoever follows these is logged out.
LEFT_OUT = {"account_logout", "account_login"}
# Nobody links to every page a hundred times over.
MOST = 400


def find_pages(requests, address, *, first=()):
    """The address of each page by its name, breadth first: `first`, then from the overview."""
    waiting = [*first, "/", *(f"/{route}" for route in routes())]
    seen, pages = set(waiting), {}
    for asked in range(MOST):
        if asked >= len(waiting):
            break
        where = waiting[asked]
        name = name_of(where)
        if name is None or name in pages or name in LEFT_OUT:
            continue
        reply = requests.get(f"{address}{where}")
        text = reply.text() if "text/html" in reply.headers.get("content-type", "") else ""
        # A part of a page is no page; and what leads elsewhere is found there.
        if not reply.ok or "<html" not in text or urlsplit(reply.url).path != urlsplit(where).path:
            continue
        pages[name] = where
        for link in LINK.findall(text):
            target = urlsplit(urljoin(f"{address}{where}", link.replace("&amp;", "&")))
            if f"{target.scheme}://{target.netloc}" != address:
                continue
            # Without the query, if there is a page without.
            for path in dict.fromkeys((target.path, f"{target.path}?{target.query}".rstrip("?"))):
                if path not in seen:
                    seen.add(path)
                    waiting.append(path)
    return dict(sorted(pages.items()))


def name_of(where):
    try:
        match = resolve(urlsplit(where).path)
    except Resolver404:
        return None
    if match.namespaces == ["admin"]:
        return "admin" if match.url_name == ADMIN else None
    if match.namespaces:
        return None
    return match.url_name


def routes():
    """Addresses without a parameter: pages that nothing links to are among them."""
    return [
        str(pattern.pattern)
        for entry in get_resolver().url_patterns
        if str(entry.pattern) == ""
        for pattern in entry.url_patterns
        if "<" not in str(pattern.pattern)
    ]
