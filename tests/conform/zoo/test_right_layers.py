"""No right layer is called wrong, however unusual its make."""

from __future__ import annotations

import pytest
from examining import examined, said
from own_forward_mode import layer_with as layer_with_both_modes
from right_layers import (
    RIGHT,
    Right,
    once_differentiable,
    once_differentiable_part,
    once_differentiable_with_jvp,
)
from wrong_layers.fault import LAYOUTS

from verify.conform.cases import NO_GAMMA, drawn_sizes
from verify.conform.plan import ROWS

LATER = (
    *("transposed", f"{ROWS} rows", "offset", "one number", "channels last, NCDHW"),
    *(
        "channels last x",
        "channels last g",
        "one plane",
        "mean/sd = 2^12, NCHW",
        "near constant, NCHW",
    ),
    *("tiny (2^-20), NCHW", "many channels, NCHW", "NaN, NCHW", "transposed, NLC", "transposed g"),
    *("expanded x, NLC", "m = 768", "NaN in the cotangent", "NaN in gamma"),
    *(f"{axes}, all lengths equal" for axes in ("NCL", "NLC", "NCDHW")),
    *(f"m = {m}, drawn" for m in drawn_sizes(0)),
)
"""Strata that came with the faults of a kernel's author."""
BRIEF = (
    *("plain", "m = 1", "m = 3", "m = 1, far from zero", "m = 1000"),
    *("mean/sd = 2^12", "constant", "gamma zero", NO_GAMMA, "NaN"),
)


def offered(right: Right) -> tuple[str, ...]:
    if hasattr(right.layer, "backward"):
        return "forward", "own gradient"
    modes = "forward", "gradient", "second rr"
    wanted = (*modes, "running", "evaluation") if "like" in right.asked else modes
    return tuple(mode for mode in wanted if mode in right.modes)


SHARED = (*LAYOUTS, *LATER)
SHARES = 8


def share(right: Right) -> tuple[str, ...]:
    """Return a layer's share of the other strata: those of a family have all of them together."""
    family = [other for other in RIGHT if other.family == right.family]
    shares = min(SHARES, len(family))
    return SHARED[family.index(right) % shares :: shares]


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_a_right_layer_conforms(right: Right) -> None:
    at = (*BRIEF, *share(right))
    report = examined(right.layer, right.name, right.asked, offered(right), at)
    assert report.verdict == "conforms", said(report)


ONCE = "marked once_differentiable"
ZERO = "zero for forward over forward of a custom"
TWICE_BACK = ("second rr", "third")


@pytest.mark.parametrize(
    ("layer", "refused", "reason"),
    [
        (once_differentiable, TWICE_BACK, ONCE),
        (once_differentiable_part, TWICE_BACK, ONCE),
        (once_differentiable_with_jvp, (*TWICE_BACK, "second fr"), ONCE),
        (once_differentiable_with_jvp, ("second ff",), ZERO),
        (layer_with_both_modes(), ("second ff",), ZERO),
    ],
)
def test_what_pytorch_does_not_have_is_not_offered(layer, refused, reason) -> None:
    report = examined(layer, "layer", {}, ("gradient", "second rf", *refused), ("plain", "m = 3"))
    assert not report.failures, said(report)
    reasons = {cell.reason for cell in report.cells if cell.mode in refused}
    assert len(reasons) == 1
    assert reason in reasons.pop()
