"""Every mistake that could be made in the papers' formulas is noticed, or says the same."""

import inspect

import numpy as np
import pytest
import sympy as sp
from mutants import functions, mutants
from references import OF_MODULES

from theory import batchnorm, claim
from theory.arithmetic import sqrt
from theory.arithmetic.abstract import Space, is_zero
from theory.batchnorm import centre

FUNCTIONS = [
    (module, function)
    for module in OF_MODULES
    for function in functions(module)
    if module is not claim or function in (claim.Unit.__init__, claim.Unit.H)
]
SAY_THE_SAME = {
    "dense.hessian": ["a gradient has the batch's shape"] * 3,
    "lp_normalization.shares": [
        "these libraries have the maximum of an array and a number",
        *["what is beyond the range is finite for derivatives alone"] * 3,
    ],
    "lp_normalization.slopes_of_any_size": ["for p infinite epsilon moves no slope"],
    "lp_normalization.gradient_along": ["the gradient is centred before"],
    "convolution.moments._by_entry": ["of two axes the last is number one"],
    "convolution.windows.windows": ["further apart still, they meet zeros too"],
    "convolution.correlations._product": ["any two parts add up to the whole"],
}
"""Why nobody can notice a mutant, for each such mutant of a function."""


def spread(y, m, eps=2 * 3):
    """An - docstring * that stays."""
    if m < 2:
        raise ValueError(y - 1)
    c = centre(y)
    return sqrt(c @ c / m) + eps


WRONG = {
    "c = y",
    "c = centre(c)",
    "return sqrt(c @ c / m) - eps",
    "return sqrt(c @ c / m)",
    "return eps",
    "return c @ c / m + eps",
    "return sqrt(c @ c) + eps",
    "return sqrt(1 / m) + eps",
    "return sqrt(c @ c * m) + eps",
    "return sqrt(y @ c / m) + eps",
    "return sqrt(c @ y / m) + eps",
    "return sqrt(c @ c / (m - 1)) + eps",
    "return sqrt(c @ c / m ** 0.5) + eps",
    "return sqrt(c @ c / m) + 0",
}


def name(value):
    return value.__name__.removeprefix("theory.") if inspect.ismodule(value) else value.__qualname__


def is_noticed(mutant, module):
    with mutant.planted(), np.errstate(all="ignore"):
        try:
            OF_MODULES[module]()
        except Exception:
            return True
    return False


def for_every_m(formula):
    """A formula of one unit at vectors of symbolic length, named by its parameters."""
    space = Space()

    def argument(parameter):
        if parameter == "axis":
            return 0
        if parameter == "hessian_of_loss":
            return lambda w: w.apply_operator()
        is_vector = parameter in ("y", "yhat", "g", "u")
        return space.vector(parameter) if is_vector else sp.Symbol(parameter, positive=True)

    found = formula(*map(argument, inspect.signature(formula).parameters))
    return found if isinstance(found, tuple) else (found,)


def is_proved_the_same(mutant):
    """Whether a mutant gives the same on every batch of every length."""
    right = for_every_m(mutant.function)
    with mutant.planted():
        wrong = for_every_m(mutant.function)
    return all(is_zero(a - b) for a, b in zip(wrong, right, strict=True))


@pytest.mark.parametrize("module", OF_MODULES, ids=name)
def test_the_formulas_give_what_they_must(module):
    OF_MODULES[module]()


@pytest.mark.parametrize(("module", "function"), FUNCTIONS, ids=name)
def test_mistakes_are_noticed_or_say_the_same(module, function):
    unnoticed = [mutant for mutant in mutants(function) if not is_noticed(mutant, module)]
    if module is batchnorm:
        unnoticed = [mutant for mutant in unnoticed if not is_proved_the_same(mutant)]
    reasons = SAY_THE_SAME.get(f"{name(module)}.{name(function)}", [])
    assert len(unnoticed) == len(reasons), "\n".join(mutant.line for mutant in unnoticed)


def test_the_mistakes_of_a_short_function():
    found = list(mutants(spread))
    assert {mutant.line for mutant in found} == WRONG
    assert len(found) == len(WRONG)


def test_a_mistake_reaches_whoever_imported_the_function_and_is_taken_back():
    [mutant] = (mutant for mutant in mutants(centre) if mutant.line == "return y")
    right = batchnorm.centre.__code__
    with mutant.planted():
        assert batchnorm.centre(3.5) == 3.5
    assert batchnorm.centre.__code__ is right
