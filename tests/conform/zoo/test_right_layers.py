"""No right layer is called wrong, however unusual its make."""

from __future__ import annotations

import pytest
from examining import examined, said
from right_layers import RIGHT, Right

BRIEFLY = ("forward", "gradient", "own gradient", "second rr", "running", "evaluation")


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_a_right_layer_conforms(right: Right) -> None:
    report = examined(right.layer, right.name, right.asked, modes=BRIEFLY)
    assert report.verdict == "conforms", said(report)
