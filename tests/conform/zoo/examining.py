"""Examine a layer in this process, in the modes that a test asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import Any
from unittest import mock

import torch

from verify.conform import plan, probe
from verify.conform.adapters import find
from verify.conform.cases import Case, draw
from verify.conform.oracle import MANY, Oracle
from verify.conform.places import counterpart
from verify.conform.plan import Options
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
        asked: options of the command, and fields of a subject: family, groups, like, dtypes,
            compiled, eps_is_single.
        modes: of use; none: all.
        at: names of strata; none: all.
        seed: draws other numbers.
    """
    family = asked.get("family", "batch")
    adapter = find(framework_of(getattr(layer, "forward", layer)))
    found = subject(layer, name, adapter, family)
    found = replace(
        found,
        groups=asked.get("groups", 1),
        like=asked.get("like", found.like),
        eps_is_single=asked.get("eps_is_single", False),
    )
    if asked.get("compiled"):
        # Traced, but run as it was: what a compiler sees, without a compiler's minutes.
        found = replace(found, layer=torch.compile(found.layer, backend="eager"))
    wanted = Wanted(dtypes=asked.get("dtypes", ()), modes=modes, seed=seed, strata=at)
    drawn, oracle, of_probe = _made_once(seed)
    with (
        mock.patch.object(plan, "draw", drawn),
        mock.patch.object(probe, "draw", drawn),
        mock.patch.object(probe, "Oracle", of_probe),
        mock.patch.object(Options, "oracle", oracle),
    ):
        return judge(found, adapter, family, wanted)


def up_to(mode: str) -> tuple[str, ...]:
    """Return a mode after the forward and what else it is compared with."""
    return tuple(dict.fromkeys(filter(None, ("forward", counterpart(mode, "x"), mode))))


LARGE = 2
"""Oracles of large arrays that are kept, which fill memory: a case has two dtypes, for the most."""


@dataclass(frozen=True)
class Asked:
    """An oracle, known by what tells it from others."""

    key: tuple[object, ...]
    make: Callable[[], Oracle] = field(compare=False)

    def made(self) -> Oracle:
        """Return it."""
        return self.make()


@lru_cache(maxsize=1)
def _made_once(
    seed: int,
) -> tuple[Callable[..., Case], Callable[[Options, Case], Oracle], Callable[..., Oracle]]:
    """Return what draws a seed's cases and what makes their oracles, which the layers share."""
    make, small, large = Options.oracle, cache(Asked.made), lru_cache(LARGE)(Asked.made)

    def oracle(options: Options, case: Case) -> Oracle:
        asked = (options.family, options.groups, options.is_affine, options.has_shift)
        key = (case.stratum, case.dtype, case.axes, case.eps, *asked, options.convention)
        kept = large if case.place.statistics.size > MANY else small
        return kept(Asked(key, partial(make, options, case)))

    probed: dict[tuple[int, bool], Oracle] = {}

    def of_probe(inputs: Mapping[str, Any], *at: Any) -> Oracle:
        key = id(inputs), at[-1]  # of inputs that are kept with what was drawn
        if key not in probed:
            probed[key] = Oracle(inputs, *at)
        return probed[key]

    return cache(draw), oracle, of_probe


def said(report: Report) -> str:
    """Return what a person reads about the failures, without the tokens."""
    places = [
        f"{mode}, {output}: {cell.word}, {cell.dtype}, {cell.stratum}, {cell.reason}"
        for (mode, output), cell in report.failing_rows
    ]
    places += [f"{', '.join(modes)}: {why}" for why, modes in report.crashes.items()]
    sentences = [f"{found.sentence}; {found.guess}" for found in report.diagnosis]
    return "\n".join([report.reason, *places, *sentences])
