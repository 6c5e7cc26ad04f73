"""Examine a layer in this process, in the modes that a test asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest import mock

import torch

from verify.conform import plan
from verify.conform.adapters import find
from verify.conform.cases import Stratum, strata
from verify.conform.report import Report
from verify.conform.run import Wanted, judge
from verify.conform.subject import framework_of, subject


def examined(
    layer: Any,
    name: str,
    asked: Mapping[str, Any],
    modes: tuple[str, ...] = (),
    at: tuple[str, ...] = (),
    seed: int = 0,
) -> Report:
    """Return the report on a layer.

    Args:
        layer: a function, a class, or a namespace with forward and backward.
        name: how the report calls it.
        asked: options of the command: family, groups, like, dtypes, compiled.
        modes: of use; none: all.
        at: names of strata; none: all.
        seed: draws other numbers.
    """
    family = asked.get("family", "batch")
    adapter = find(framework_of(getattr(layer, "forward", layer)))
    found = subject(layer, name, adapter, family)
    found = replace(found, groups=asked.get("groups", 1), like=asked.get("like", found.like))
    if asked.get("compiled"):
        # Traced, but run as it was: what a compiler sees, without a compiler's minutes.
        found = replace(found, layer=torch.compile(found.layer, backend="eager"))
    wanted = Wanted(dtypes=asked.get("dtypes", ()), modes=modes, seed=seed)
    with mock.patch.object(plan, "strata", lambda dtypes: _named(at, dtypes)):
        return judge(found, adapter, family, wanted)


def _named(names: tuple[str, ...], dtypes: tuple[str, ...]) -> list[Stratum]:
    return [stratum for stratum in strata(dtypes) if not names or stratum.name in names]


def said(report: Report) -> str:
    """Return what a person reads about the failures, without the tokens."""
    places = [
        f"{mode}, {output}: {cell.word}, {cell.dtype}, {cell.stratum}, {cell.reason}"
        for (mode, output), cell in report.failing_rows
    ]
    sentences = [f"{found.sentence}; {found.guess}" for found in report.diagnosis]
    return "\n".join([report.reason, *places, *sentences])
