"""What the theme leaves out for readers who listen, or have no mouse."""

from __future__ import annotations

from typing import Any

SCROLLING = {
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" role="group" aria-label="Table" '
    'class="table-wrapper',
}


def _level(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Give the sidebar's headings their level."""
    key = "furo_navigation_tree"
    if key in context:
        context[key] = context[key].replace('role="heading"', 'role="heading" aria-level="2"')


def _scrolling(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let a listing and a table that are wider than the page be scrolled from the keyboard."""
    for plain, scrolling in SCROLLING.items() if "body" in context else ():
        context["body"] = context["body"].replace(plain, scrolling)


def setup(app: Any) -> dict[str, Any]:
    """Connect after the theme, which writes the sidebar."""
    app.connect("html-page-context", _scrolling)
    app.connect("html-page-context", _level, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
