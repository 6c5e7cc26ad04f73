"""What is said of an output that is right at the ordinary case and wrong elsewhere."""

from __future__ import annotations

import pytest

from verify.conform.cases import PLAIN, SIZES, Stratum
from verify.conform.diagnosis import diagnosed
from verify.conform.judge import Cell
from verify.conform.words import Word

ORDINARY, ONE_ENTRY = Stratum("plain", PLAIN), Stratum("m = 1", SIZES, 1)


def at_one_entry(mode, output, word):
    """Cells of an output that is right at the ordinary case, and here so at a batch of one."""
    return [
        Cell(mode, output, dtype, stratum.name, stratum.kind, at)
        for dtype in ("float32", "float64")
        for stratum, at in ((ORDINARY, Word.RIGHT), (ONE_ENTRY, word))
    ]


@pytest.mark.parametrize(
    ("gradient", "said", "guess"),
    [
        (
            Word.WRONG,
            "right elsewhere, wrong at m = 1",
            "a batch of one entry is treated on its own",
        ),
        (
            Word.RIGHT,
            "is not the gradient's, which is right",
            "the step of training has another backward",
        ),
    ],
)
def test_gradients_of_the_step_are_held_against_the_forwards(gradient, said, guess):
    """Running statistics have none, and what is wrong there says nothing of them."""
    cells = [
        *at_one_entry("gradient", "x", gradient),
        *at_one_entry("running", "z", Word.RIGHT),
        *at_one_entry("recomputed", "x", Word.WRONG),
    ]
    found = diagnosed([], True, cells, [ORDINARY, ONE_ENTRY])[-1]
    assert (found.mode, found.sentence, found.guess) == ("recomputed", said, guess)
