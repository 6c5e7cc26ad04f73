"""No right layer is called wrong, however unusual its make."""

from __future__ import annotations

import pytest
from examining import examined, said
from right_layers import RIGHT, Right

BRIEFLY = ("forward", "gradient", "own gradient", "second rr", "running", "evaluation")
BRIEF = ("plain", "m = 1", "m = 3", "mean/sd = 2^12", "constant", "gamma zero", "m = 1000", "NaN")


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_a_right_layer_conforms(right: Right) -> None:
    report = examined(right.layer, right.name, right.asked, BRIEFLY, BRIEF)
    assert report.verdict == "conforms", said(report)
