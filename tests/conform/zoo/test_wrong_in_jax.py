"""Every fault planted in a layer of JAX is found, and called by its name."""

from __future__ import annotations

import re

import pytest
from examining import examined, said, up_to

pytest.importorskip("jax", reason="JAX is not installed; pip install batchnorm-theory[conform-jax]")
from wrong_in_jax import FAULTS

USUAL = ("plain", "m = 3", "m = 7")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_in_jax_is_found_and_named(fault) -> None:
    modes = up_to(fault.mode)
    report = examined(fault.layer, fault.name, fault.asked, modes, (*USUAL, *fault.at))
    assert (fault.mode, fault.word) in {(cell.mode, str(cell.word)) for cell in report.failures}
    assert re.search(fault.says, said(report), re.IGNORECASE), said(report)
