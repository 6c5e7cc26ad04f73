"""Docstrings as Sphinx reads them: a norm such as ``|u|`` in a sentence is no substitution.

Sphinx reads a docstring within a Markdown page as a document of its own, whose settings hold the
environment of the whole site.  What comes of it is given to the page, or all pages would be kept
with each.
"""

from __future__ import annotations

import re
from typing import Any

_QUOTED = re.compile(r"(``.*?``|`[^`]*`)")


def escape_bars(lines: list[str]) -> list[str]:
    r"""Return the lines with every bar outside of quoted text escaped.

    Directives and doctests are left as they are.

    >>> escape_bars(["the norm |u| of :math:`|v|`"])
    ['the norm \\|u\\| of :math:`|v|`']
    """
    kept, inside = [], False
    for line in lines:
        starts = line.lstrip().startswith((".. ", ">>>"))
        inside = starts or (inside and (not line.strip() or line.startswith(" ")))
        kept.append(line if inside else _escaped(line))
    return kept


def _escaped(line: str) -> str:
    parts = _QUOTED.split(line)
    return "".join(p if i % 2 else p.replace("|", r"\|") for i, p in enumerate(parts))


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = escape_bars(lines)


def _adopt(app: Any, page: Any) -> None:
    for node in page.findall():
        node.document = page


def setup(app: Any) -> dict[str, Any]:
    """Connect to autodoc, and to what is read."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("doctree-read", _adopt)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
