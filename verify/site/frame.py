"""What every page would repeat stands once: the list of all pages, icons, colours, scripts.

A page that the list of pages leads to has the list; the other pages, which are most, show it by a
script.  Their readers without scripts are led to the front page.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

NAVIGATION = Path(__file__).parent / "assets" / "navigation.js"
TREE = "furo_navigation_tree"
FOR_MATHEMATICS = ("katex/katex.min.js", "mathematics.js", "katex/copy-tex.min.js")
FOR_THE_LEDGER = ("ledger.js",)
OUTSIDE_OF_THE_TREE = "search"
"""A page that is written always, from the root, and that is no page of the list."""
_LISTING = re.compile("(<pre.*?</pre>)", re.DOTALL)
_INDENTATION = re.compile(r"\n\s+")
_ICON = re.compile('<use href="#svg-[^"]*"></use>')
VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1" />'
"""What docutils writes, and the theme as well."""
_UNSTYLED = re.compile('<span class="(?:pre">([^<-]*)|[wnpo]">([^<]*))</span>')
_IMPLIED_ENDS = re.compile("</(?:dd|dt|li|td|th|tr)>")


def without_unstyled(body: str) -> str:
    """Return a page's body without the elements that look like the text around them.

    Names, operators and punctuation of listings have its colour.  A word with hyphens keeps its
    element, by which the style sheet keeps it on one line.

    >>> without_unstyled('<em><span class="n"><span class="pre">eps</span></span></em>')
    '<em>eps</em>'
    >>> without_unstyled('eps <span class="o">&gt;</span> <span class="mi">0</span>')
    'eps &gt; <span class="mi">0</span>'
    >>> without_unstyled('<code><span class="pre">--take-over</span></code>')
    '<code><span class="pre">--take-over</span></code>'
    """
    return _UNSTYLED.sub(r"\1\2", _UNSTYLED.sub(r"\1\2", body))


def without_implied_ends(page: str) -> str:
    """Return a page without the end tags that HTML implies by what follows.

    >>> without_implied_ends("<table><tr><th>m</th><td>2</td></tr></table>")
    '<table><tr><th>m<td>2</table>'
    """
    return _IMPLIED_ENDS.sub("", page)


def without_indentation(page: str) -> str:
    r"""Return a page without what templates are indented by.

    >>> without_indentation("<p>\n\n  a\n  <pre>\n  b</pre>\n</p>")
    '<p>\na\n<pre>\n  b</pre>\n</p>'
    """
    parts = _LISTING.split(page)
    return "".join(p if i % 2 else _INDENTATION.sub("\n", p) for i, p in enumerate(parts))


def without_icons(page: str) -> str:
    """Return a page without the names of the theme's icons, which the style sheet draws.

    >>> without_icons('<svg class="icon"><use href="#svg-menu"></use></svg>')
    '<svg class="icon"></svg>'
    """
    return _ICON.sub("", page)


def scripts_left_out(body: str) -> tuple[str, ...]:
    """Return the scripts that a page has no use for.

    >>> scripts_left_out('<span class="katex">')
    ('ledger.js',)
    """
    without_formulas = () if 'class="katex"' in body else FOR_MATHEMATICS
    return (*without_formulas, *(() if 'id="ledger"' in body else FOR_THE_LEDGER))


def _shorten(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Leave out of a page what says nothing there."""
    body = context.get("body", "")
    if body:
        context["body"] = without_unstyled(body)
    context["metatags"] = (context.get("metatags") or "").replace(VIEWPORT, "")
    left_out = tuple(f"_static/{name}" for name in scripts_left_out(body))
    context["script_files"] = [
        script for script in context["script_files"] if script.filename not in left_out
    ]


def _lead(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Say which pages show the list from its file; it is not made for each of them."""
    context["navigation_is_shared"] = "orphan" in app.env.metadata[page]
    if context["navigation_is_shared"]:
        context.pop("toctree")


def _share(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Write the list of pages to a file, once."""
    if page == OUTSIDE_OF_THE_TREE:
        listed = context.get(TREE, "")
        written = Path(app.outdir) / "_static" / NAVIGATION.name
        written.parent.mkdir(exist_ok=True)
        code = NAVIGATION.read_text(encoding="utf-8")
        written.write_text(f"const pages = {json.dumps(listed)};\n{code}", encoding="utf-8")


def _dedent(app: Any, error: Exception | None) -> None:
    """Write the pages again without what says nothing to a browser."""
    for page in () if error else Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        short = without_implied_ends(without_icons(without_indentation(text)))
        page.write_text(short, encoding="utf-8")


def _leave_out_maps(app: Any, error: Exception | None) -> None:
    """Leave out what only those need who change the theme's own scripts and styles."""
    for source_map in Path(app.outdir).rglob("*.map"):
        source_map.unlink()


def _remove_old(app: Any, error: Exception | None) -> None:
    """Remove the pages of folders whose source is gone."""
    out = Path(app.outdir)
    for page in () if error else out.glob("[!_]*/**/*.html"):
        if page.relative_to(out).with_suffix("").as_posix() not in app.env.found_docs:
            page.unlink()


def setup(app: Any) -> dict[str, Any]:
    """Connect before and after the theme, which makes the list of pages."""
    app.connect("html-page-context", _shorten)
    app.connect("html-page-context", _lead, priority=100)
    app.connect("html-page-context", _share, priority=950)
    app.connect("build-finished", _remove_old)
    app.connect("build-finished", _dedent)
    app.connect("build-finished", _leave_out_maps)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
