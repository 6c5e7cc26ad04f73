r"""Mathematics, checked when the site is built and set when a page is read, by KaTeX.

A Sphinx extension with one HTML math renderer.  KaTeX's own JavaScript runs in an embedded V8; a
page holds its MathML with the LaTeX source, for screen readers, for copying, and for browsers that
run no scripts.  The same JavaScript, which the site brings, sets each formula from that source
(``assets/static/mathematics.js``): written out, its HTML was a third of the site.  What KaTeX does
not understand is a warning of the build, so an error under ``-W``; never red or raw text on a page.
"""

from __future__ import annotations

import atexit
import os
import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from py_mini_racer import JSEvalException, MiniRacer

IMPLIED = (' xmlns="http://www.w3.org/1998/Math/MathML"', ' fence="true"', ' separator="true"')
"""What a browser does not read in a page: MathML Core has given it up, or HTML implies it."""
LONG = 60
"""Characters of LaTeX within a line; what is longer may be wider than the page."""
_BARS = re.compile(r"(?<!\\[bB]ig)(?<!\\left)(?<!\\right)(?<!\\)(\\?\|)")
"""Of a norm or an absolute value, where they have no size of their own."""
SOURCE = Path(__file__).parent / "assets" / "static" / "katex" / "katex.min.js"


class MathError(ValueError):
    """A formula that cannot be set."""


@lru_cache(maxsize=1)
def _engine(process: int) -> MiniRacer:
    """Return KaTeX in a V8 of this process's own."""
    context = MiniRacer()
    atexit.register(_close, context, process)
    context.eval(SOURCE.read_text(encoding="utf-8"))
    return context


def _close(context: MiniRacer, process: int) -> None:
    """End V8 while its thread runs; from Python 3.13 on it is waited for in vain any later."""
    if os.getpid() == process:
        context.close()


@lru_cache(maxsize=8192)
def html(tex: str, *, display: bool = False) -> str:
    r"""Return a formula as MathML with its source inside.

    Raises:
        MathError: KaTeX does not understand the source.

    >>> html(r"\frac{1}{m}").startswith('<span class="katex">')
    True
    """
    options = {
        "displayMode": display, "output": "mathml", "throwOnError": True, "strict": "ignore",
    }  # fmt: skip
    try:
        written = str(_engine(os.getpid()).call("katex.renderToString", tex, options))
    except JSEvalException as error:
        reason = next(iter(str(error).strip().splitlines()), "")
        raise MathError(f"cannot set {tex!r}: {reason}") from None
    for attribute in IMPLIED:
        written = written.replace(attribute, "")
    return written


def _visit(translator: Any, node: Any, *, display: bool) -> None:
    """Write a formula and skip what the node holds."""
    from docutils.nodes import SkipNode
    from sphinx.util import logging

    try:
        tex = _aligned(with_tall_bars(node.astext())) if display else node.astext()
        body = html(tex, display=display)
    except MathError as error:
        logging.getLogger(__name__).warning(str(error), location=node)
        body = f"<code>{escape(node.astext())}</code>"
    if display or len(node.astext()) > LONG:
        tag = "div" if display else "span"
        body = (
            f'<{tag} class="formula" tabindex="0" role="group" aria-label="Formula">{body}</{tag}>'
        )
    translator.body.append(body)
    raise SkipNode


def with_tall_bars(tex: str) -> str:
    r"""Return a displayed formula with bars as tall as a fraction between them.

    >>> print(with_tall_bars(r"\|\frac{x}{\|y\|}\|^2 \le |a|"))
    \left\|\frac{x}{\|y\|}\right\|^2 \le |a|
    >>> print(with_tall_bars(r"|\frac{x}{y} - |a| b|"))
    \left|\frac{x}{y} - |a| b\right|
    """
    parts = _BARS.split(tex)
    opened: dict[tuple[int, str], list[int]] = {}
    depth = 0
    for i, part in enumerate(parts):
        if i % 2 == 0:
            depth += sum(map(part.count, "{([")) - sum(map(part.count, "})]"))
            continue
        waiting = opened.setdefault((depth, part), [])
        before = parts[i - 1].rstrip()
        if not waiting or before.endswith(("+", "-")) or (not before and waiting[-1] == i - 2):
            waiting.append(i)
        elif _is_tall("".join(parts[(start := waiting.pop()) + 1 : i])):
            parts[start], parts[i] = rf"\left{part}", rf"\right{part}"
    return "".join(parts)


def _is_tall(tex: str) -> bool:
    """Whether a part of a formula has a fraction, and is one on which bars may stand."""
    is_whole = "&" not in tex and tex.count(r"\left") == tex.count(r"\right")
    return r"\frac" in tex and is_whole


def _aligned(tex: str) -> str:
    """Return several lines as one formula, as Sphinx's own renderers understand them."""
    has_lines = r"\\" in tex or "&" in tex
    return rf"\begin{{aligned}}{tex}\end{{aligned}}" if has_lines and r"\begin" not in tex else tex


def visit_inline(translator: Any, node: Any) -> None:
    """Write a formula within a line; a long one scrolls by itself where it is wider than that."""
    _visit(translator, node, display=False)


def visit_block(translator: Any, node: Any) -> None:
    """Write a displayed formula; one that is wider than the page scrolls by itself."""
    _visit(translator, node, display=True)


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer with Sphinx as ``katex``."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
