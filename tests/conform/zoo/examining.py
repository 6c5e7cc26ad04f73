"""Examine a layer in this process, in the modes that a test asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from verify.conform.adapters import find
from verify.conform.examine import Here
from verify.conform.process import facts
from verify.conform.report import Report, sentence
from verify.conform.run import Wanted, examine
from verify.conform.subject import framework_of, subject


def examined(
    layer: Any, name: str, asked: Mapping[str, Any], modes: tuple[str, ...] = (), seed: int = 0
) -> Report:
    """Return the report on a layer.

    Args:
        layer: a function, a class, or a namespace with forward and backward.
        name: how the report calls it.
        asked: options of the command: family, groups, like, dtypes, compiled.
        modes: of use; none: all.
        seed: draws other numbers.
    """
    family = asked.get("family", "batch")
    adapter = find(framework_of(getattr(layer, "forward", layer)))
    found = subject(layer, name, adapter, family)
    found = replace(found, groups=asked.get("groups", 1), like=asked.get("like", found.like))
    if asked.get("compiled"):
        found = replace(found, layer=adapter.compile(found.layer))  # type: ignore[attr-defined]
    wanted = Wanted(asked.get("dtypes", ()), modes, seed)
    return examine(Here(found, adapter), facts(found, adapter), family, wanted, lambda *_: None)


def said(report: Report) -> str:
    """Return what a person reads about the failures."""
    lines = [sentence(row, cell, report) for row, cell in report.failing_rows]
    return "\n".join([report.reason, *lines])
