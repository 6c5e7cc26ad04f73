"""What floats say of an instance, where a side has several entries."""

from math import inf

import numpy as np
import pytest

from theory.language.expression import Relation
from verify.witnesses.evaluations import Evaluation, may_be_violated


@pytest.mark.parametrize("undefined", [(inf, inf), (np.nan, 1.0)])
@pytest.mark.parametrize(("actual", "is_violated"), [(2.0, True), (0.5, False)])
def test_an_entry_that_is_undefined_hides_no_other(undefined, actual, is_violated):
    sides = (np.array([[a, b]]) for a, b in zip(undefined, (actual, 1.0), strict=True))
    assert may_be_violated(Relation.AT_MOST, Evaluation.of(*sides), 2) is is_violated
