"""What a page's head has besides the theme's: a description, and the root of a wrong address.

A host such as GitHub Pages shows ``404.html`` at whatever address has no page.  Its links are from
the site's root, which it looks for above that address when it is read.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from textwrap import shorten
from typing import Any

from docutils import nodes

MISSING = "404"
"""The page that is shown where there is none."""
SCRIPT = Path(__file__).parent / "assets" / "missing_page.js"
LONGEST = 160
"""Characters of a description that a list of results shows."""
_IS_DESCRIBED = re.compile(r'<meta [^>]*name="description"')


def _describe(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Describe a page that does not do so itself by its first paragraph."""
    written = context.get("metatags") or ""
    paragraph = None if tree is None else next(iter(tree.findall(nodes.paragraph)), None)
    if paragraph is not None and not _IS_DESCRIBED.search(written):
        text = escape(shorten(paragraph.astext(), LONGEST, placeholder=" …"))
        context["metatags"] = f'{written}<meta name="description" content="{text}">'


def _look_for_the_root(
    app: Any, page: str, template: str, context: dict[str, Any], tree: Any
) -> None:
    """Let the page of wrong addresses look for the root before anything else is asked for."""
    if page == MISSING:
        script = SCRIPT.read_text(encoding="utf-8")
        context["metatags"] = f"{context.get('metatags') or ''}<script>\n{script}</script>"


def setup(app: Any) -> dict[str, Any]:
    """Connect to each page that is written."""
    app.connect("html-page-context", _describe)
    app.connect("html-page-context", _look_for_the_root)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
