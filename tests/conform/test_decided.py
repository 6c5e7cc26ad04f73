"""Wrong or inaccurate: the sizes of an error in two precisions decide, and how hard the case is.

And right, or right by another library's convention.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from verify.conform.conventions import DECLARED, Kept, compared
from verify.conform.decide import crashed, decided
from verify.conform.judge import Cell
from verify.conform.report import worst
from verify.conform.words import LIMIT, Word

EASY, HARD = 1e-15, 1e-3
"""Parts of the statistics that rounding may take."""


def cell(dtype, units, condition=EASY, stratum="plain", kind="plain"):
    word = Word.WRONG if (units or 0.0) > LIMIT[dtype] else Word.RIGHT
    return Cell("forward", "z", dtype, stratum, kind, word, units, condition=condition)


def words(cells, variables=None):
    """Return the word for each cell; no stratum is one of a series unless it is told."""
    nowhere = dict.fromkeys((c.stratum for c in cells), (float("nan"), float("nan")))
    return [str(c.word) for c in decided(cells, nowhere | (variables or {}))]


@pytest.mark.parametrize(
    ("double", "single", "condition", "said"),
    [
        (40 * 2.0**29, 40, EASY, ["wrong", "wrong"]),
        (40 * 1025, 40, EASY, ["wrong", "wrong"]),
        (40 * 1023, 40, EASY, ["inaccurate", "inaccurate"]),
        (1025, 0.5, EASY, ["wrong", "right"]),
        (1023, 0.5, EASY, ["inaccurate", "right"]),
        (0.5, 1025, EASY, ["right", "wrong"]),
        (0.5, 1025, HARD, ["right", "inaccurate"]),
        (None, 1025, EASY, ["wrong"]),
        (None, 1025, HARD, ["inaccurate"]),
        (None, 1023, EASY, ["inaccurate"]),
    ],
)
def test_what_does_not_shrink_with_the_precision_is_wrong(double, single, condition, said):
    units = {"float64": double, "float32": single}
    cells = [cell(d, u, condition) for d, u in units.items() if u is not None]
    assert words(cells) == said


def test_half_precision_is_wrong_only_where_a_like_case_of_single_is():
    half, single = cell("float16", 1e6), cell("float32", 1e6, stratum="other")
    assert words([half]) == ["inaccurate"]
    assert words([half, single]) == ["wrong", "wrong"]
    assert words([half, cell("float32", 1e6, stratum="other", kind="sizes")]) == [
        "inaccurate",
        "wrong",
    ]
    rounded = [half, cell("float32", 40.0), cell("float64", 40.0)]
    assert words([*rounded, single]) == ["inaccurate", "inaccurate", "inaccurate", "wrong"]


def test_growth_is_of_the_cases_of_one_series_up_to_the_largest_error():
    offsets = {f"mean/sd = {r}": (float(r), float("nan")) for r in (1, 4, 16, 64, 256)}
    sizes = zip(offsets, (0.9, 64.0, 256.0, 1024.0, 100.0), strict=True)
    cells = [cell("float32", units, HARD, stratum) for stratum, units in sizes]
    others = [cell("bfloat16", 64.0, HARD, stratum) for stratum in offsets]
    (_, first, *_) = decided([*cells, *others], offsets)
    assert first.reason == "grows like (mean/sd)^1.0 beyond rounding"
    (alone,) = decided([cell("float32", 64.0, HARD)], {"plain": (float("nan"), float("nan"))})
    assert alone.reason == "rounds more than two passes do"


def test_the_first_failure_or_the_largest_error_stands_for_several():
    small, large = cell("float64", 0.5), cell("float64", 2.0)
    first, second = (cell("float64", 40.0, stratum=name) for name in ("first", "second"))
    assert worst([small, large, small]) is large
    assert worst([large, first, second]) is first


def missing(mode, reason, is_crash):
    """A cell of a mode that gave no output."""
    return replace(
        cell("float64", None), mode=mode, word=Word.NOT_OFFERED, reason=reason, is_crash=is_crash
    )


def test_a_mode_raises_that_ends_in_an_error_at_every_case_and_what_ends_in_the_same():
    error, other = "NameError: name 'gama' (layer.py, line 3)", "TypeError: any"
    cells = [
        *(missing("gradient", error, is_crash=True) for _ in range(2)),
        missing("gradient twice", "NameError: name 'gama'", is_crash=False),
        missing("jvp", other, is_crash=True),
        replace(cell("float64", 1.0), mode="jvp"),
        missing("third", "there is none", is_crash=False),
    ]
    expected = ["raises", "raises", "raises", "not offered", "right", "not offered"]
    assert [str(c.word) for c in crashed(cells)] == expected
    assert {c.reason for c in crashed(cells) if c.word is Word.RAISES} == {error}


def test_a_report_says_which_convention_was_found_and_which_is_declared():
    torchs = "momentum weighs the batch, variance of m - 1"
    assert Kept(UNBIASED, UNBIASED, "torch").words() == f"{torchs} (declared as torch's)"
    assert Kept(BIASED, UNBIASED, "torch").words() == (
        f"momentum weighs the batch, variance of m (found; declared is torch's: {torchs})"
    )


OUTPUTS = ("mean", "variance, 3 steps", "z")
UNBIASED, OF_OLD = DECLARED["torch"], DECLARED["keras"]
BIASED = replace(UNBIASED, is_unbiased=False)


@pytest.mark.parametrize(
    ("found", "differing"),
    [(UNBIASED, ()), (BIASED, OUTPUTS[1:2]), (OF_OLD, OUTPUTS[:2])],
)
def test_only_what_is_right_by_another_convention_is_said_to_be_of_it(found, differing):
    kept = Kept(found, declared=UNBIASED, like="torch")
    right = [replace(cell("float64", 1.0), output=output) for output in OUTPUTS]
    others = {c.output for c in compared(right, kept) if c.word is Word.OTHER_CONVENTION}
    assert others == set(differing)
    wrong = [replace(c, word=Word.WRONG) for c in right]
    assert list(compared(wrong, kept)) == wrong
