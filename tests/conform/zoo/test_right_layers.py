"""No right layer is called wrong, however unusual its make."""

from __future__ import annotations

from typing import Any

import pytest
from examining import examined, said
from right_layers import RIGHT, Right
from wrong_layers.fault import LAYOUTS

BRIEF = ("plain", "m = 1", "m = 3", "mean/sd = 2^12", "constant", "gamma zero", "m = 1000", "NaN")


def offered(layer: Any) -> tuple[str, ...]:
    if hasattr(layer, "backward"):
        return "forward", "own gradient"
    modes = "forward", "gradient", "second rr"
    return (*modes, "running", "evaluation") if isinstance(layer, type) else modes


def layouts(right: Right) -> tuple[str, ...]:
    """Return all of them for what is made otherwise; functions share them out among themselves."""
    return LAYOUTS if right.asked else LAYOUTS[RIGHT.index(right) % 3 :: 3]


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_a_right_layer_conforms(right: Right) -> None:
    at = (*BRIEF, *layouts(right))
    report = examined(right.layer, right.name, right.asked, offered(right.layer), at)
    assert report.verdict == "conforms", said(report)
