r"""Proposition 6: how many operations a step of Algorithm 2 takes, and one of BN, by running them.

+, -, x and / count one each; maxima, square roots and the numbers :math:`\rho`, :math:`1-\rho`,
:math:`\epsilon_1\max\sigma^2`, :math:`\epsilon_2` and :math:`1/q^2` count nothing.  The text does
not say what a sum of k terms and an inner product of k terms count.  With k - 1 additions for the
first and 2k operations for the second, which is how a matrix times a vector is usually counted,
every printed number and the total are exact.  The other conventions change the terms that are not
leading:

============  ===========  ===================  ======================  ==============
steps         printed      k - 1 additions      k additions in every    this convention
                           in every sum         sum (from zero)
============  ===========  ===================  ======================  ==============
1             4nN          4nN                  4nN + 2n                4nN
2 and 3       8n           8n                   8n                      8n
4 and 5       6np + 2p     6np + p              6np + 2p                6np + 2p
============  ===========  ===================  ======================  ==============

with n inputs and p outputs, the text's :math:`n_{\ell-1}, n_\ell`.

Steps are run on arrays of which only the shape is known: an operation between two counts one for
each entry of the result.

>>> work = Work()
>>> H = Counted((3, 2), work)  # three examples of two features
>>> _ = (H - H.sum(0) / 3) * 2.0  # 2 * 2 additions, 2 divisions, 6 subtractions, 6 products
>>> work.done
18
>>> _ = H @ Counted((2,), work)  # 3 inner products
>>> work.done
30

*Batch Normalization.*  The statistics with their moving averages and an epsilon take 4nN + 7n, if
the square roots count nothing, and the normalization 4nN, as printed.  For the backward pass the
text has a number, 24nN - 3n, and no formulas.  It is what those of Ioffe and Szegedy (2015) take if
whatever stands in a term is done for every example, the division by N and the minus before
:math:`1/\sigma` included.  Evaluated as arrays they take 21nN - n, and 7nN + n the closed form

.. math:: \frac{\partial\mathcal L}{\partial y} = \frac\gamma\sigma\Big(
          g - \tfrac1N\langle 1, g\rangle - \hat y\,\tfrac1N\langle\hat y, g\rangle\Big), \qquad
          g = \frac{\partial\mathcal L}{\partial z},\quad z = \gamma\hat y + \beta,

whose two sums are the gradients in :math:`\beta` and :math:`\gamma`.  With that, BN takes fewer
operations than BNP as soon as :math:`11N \le 6n_\ell`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from theory import preconditioning
from theory.lange2022.texts import of_layers
from theory.language.expression import Letter, Sort, equal, number
from theory.layer import N
from theory.statement import REFUTED, Form, assume


@dataclass
class Work:
    """How many operations were done, and how they are counted."""

    first_of_sums: int = 0
    """What the first term of a sum counts: nothing, or one where a sum starts from zero."""
    first_of_products: int = 1
    """The same of the sum in an inner product."""
    done: int = 0


class Counted:
    """An array of numbers that nobody looks at."""

    __array_ufunc__ = None
    """NumPy leaves the operations to this class."""

    def __init__(self, shape: tuple[int, ...], work: Work):
        self.shape, self.work = shape, work

    def __add__(self, other: Any) -> Counted:
        shape = np.broadcast_shapes(self.shape, getattr(other, "shape", ()))
        self.work.done += prod(shape)
        return Counted(shape, self.work)

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__

    def __neg__(self) -> Counted:
        return self

    def __matmul__(self, other: Any) -> Counted:
        shape, terms = self.shape[:-1] + other.shape[1:], self.shape[-1]
        self.work.done += prod(shape) * (2 * terms - 1 + self.work.first_of_products)
        return Counted(shape, self.work)

    def __getitem__(self, index: Any) -> Counted:
        return Counted(np.broadcast_to(0, self.shape)[index].shape, self.work)

    def sum(self, axis: int) -> Counted:
        """Return the sums along an axis."""
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        self.work.done += prod(shape) * (self.shape[axis] - 1 + self.work.first_of_sums)
        return Counted(shape, self.work)


Slopes = tuple[Any, Any, Any]
"""The gradients in x, gamma and beta."""


def literal(g: Any, x: Any, yhat: Any, mean: Any, inverse: Any, cube: Any, gamma: Any) -> Slopes:
    """Return the gradients by the formulas of Ioffe and Szegedy.

    What depends on the feature alone is computed once.

    Args:
        g: the gradient in z, (N, n).
        x: the inputs, (N, n).
        yhat: the normalized inputs, (N, n).
        mean: of each feature, (n,).
        inverse: 1/sigma, (n,).
        cube: its third power, (n,).
        gamma: (n,).
    """
    N, in_yhat = x.shape[0], g * gamma
    in_variance = (in_yhat * (x - mean) * (-1 / 2) * cube).sum(0)
    in_mean = (in_yhat * -inverse).sum(0) + in_variance * (-2 * (x - mean)).sum(0) / N
    in_x = in_yhat * inverse + in_variance * (2 * (x - mean)) / N + in_mean / N
    return in_x, (g * yhat).sum(0), g.sum(0)


def termwise(g: Any, x: Any, yhat: Any, mean: Any, inverse: Any, cube: Any, gamma: Any) -> Slopes:
    """The same with all that stands in a term done for every example."""
    N, in_yhat = x.shape[0], g * gamma
    in_variance = (in_yhat * (x - mean) * (-1 / 2) * cube).sum(0)
    signed = 0 - repeated(inverse, x)
    in_mean = (in_yhat * signed).sum(0) + in_variance * (-2 * (x - mean) / N).sum(0)
    in_x = in_yhat * inverse + in_variance * (2 * (x - mean)) / N + repeated(in_mean, x) / N
    return in_x, (g * yhat).sum(0), g.sum(0)


def fused(g: Any, x: Any, yhat: Any, mean: Any, inverse: Any, cube: Any, gamma: Any) -> Slopes:
    """The closed form."""
    N, in_beta, in_gamma = x.shape[0], g.sum(0), (g * yhat).sum(0)
    in_x = (g - in_beta / N - yhat * (in_gamma / N)) * (gamma * inverse)
    return in_x, in_gamma, in_beta


def repeated(v: Any, x: Any) -> Any:
    """Return a feature's number once for every example."""
    return Counted(x.shape, v.work) if isinstance(v, Counted) else v + 0 * x


RHO, SMALL = 0.99, 1e-4
n = Letter("n_(l-1)", r"n_{\ell-1}", Sort.NUMBER, lambda layer: layer.H.shape[1])
p = Letter("n_l", r"n_\ell", Sort.NUMBER, lambda layer: layer.W.shape[0])


class Arrays(NamedTuple):
    """What the steps work on: inputs, (N, n), gradients, (p, n) and (p,), and (n,) numbers."""

    H: Counted
    weights: Counted
    bias: Counted
    vector: Counted


Part = Callable[[Arrays], Any]
"""Some steps."""


def statistics(H: Counted) -> tuple[Counted, Counted]:
    """Step 1, the means and the variances."""
    mean = H.sum(0) / H.shape[0]
    deviations = H - mean
    return mean, (deviations * deviations).sum(0) / H.shape[0]


def averages(mean: Counted, variance: Counted) -> tuple[Counted, Counted]:
    """Step 2, both moving averages."""
    old = Counted(mean.shape, mean.work)
    return RHO * old + (1 - RHO) * mean, RHO * old + (1 - RHO) * variance


def first_step(arrays: Arrays) -> None:
    """Step 1."""
    statistics(arrays.H)


def middle_steps(arrays: Arrays) -> None:
    """Steps 2 and 3; the third adds two numbers to every variance."""
    _, variance = averages(arrays.vector, arrays.vector)
    _ = variance + SMALL + SMALL


def last_steps(arrays: Arrays) -> None:
    """Steps 4 and 5, as they are printed."""
    _, gradient, bias, vector = arrays
    weights = RHO * (gradient - vector * bias[:, None]) / vector
    _ = RHO * bias - weights @ vector


def in_place(arrays: Arrays) -> None:
    """Steps 4 and 5 with 1/q^2 in the variances."""
    _, gradient, bias, vector = arrays
    preconditioning.preconditioned_gradient(bias, gradient, vector, vector, q_squared=SMALL)


def with_averages(arrays: Arrays) -> None:
    """The statistics of BN, their moving averages, and an epsilon."""
    mean, variance = statistics(arrays.H)
    averages(mean, variance)
    _ = variance + SMALL


def forward(arrays: Arrays) -> None:
    """Normalization, re-scaling and re-centring."""
    _ = arrays.vector * ((arrays.H - arrays.vector) / arrays.vector) + arrays.vector


def backward(formulas: Callable[..., Slopes]) -> Part:
    """Return the backward pass by some formulas."""
    return lambda arrays: formulas(*[arrays.H] * 3, *[arrays.vector] * 4)


def operations(what: str, *parts: Part, counted: str = "", **counts: int) -> Letter:
    """Return the number of operations that parts take, as they are run.

    Args:
        what: the parts' name.
        parts: what is run.
        counted: how sums are, where it is not as printed; the index of the number.
        counts: the same for :class:`Work`.
    """

    def count(layer: Any) -> int:
        (N, n), p, work = layer.H.shape, layer.W.shape[0], Work(**counts)
        for part in parts:
            part(Arrays(*(Counted(shape, work) for shape in ((N, n), (p, n), (p,), (n,)))))
        return work.done

    index = f"_{{{counted}}}" if counted else ""
    convention = rf"{CONVENTIONS[counted]}, {COUNT_NOTHING}"
    name = rf"\#{index}\text{{ operations of {what}}}"
    return Letter(f"operations of {what}", name, Sort.NUMBER, count, convention)


CONVENTIONS = {
    "": r"k - 1 \text{ additions in a sum of } k \text{ terms, } 2k \text{ operations for an entry"
    r" of a product of matrices}",
    "k - 1": r"k - 1 \text{ additions in every sum of } k \text{ terms}",
    "k": r"k \text{ additions in every sum of } k \text{ terms}",
}
COUNT_NOTHING = (
    r"\text{ none for maxima, roots, } 1 - \rho,\ \epsilon_1\max\sigma^2 \text{ and } 1/q^2"
)


def one_less(what: str, *parts: Part) -> Letter:
    """Return the number of operations where every sum of k terms counts k - 1."""
    return operations(what, *parts, counted="k - 1", first_of_products=0)


def from_zero(what: str, *parts: Part) -> Letter:
    """Return the number of operations where every sum of k terms counts k."""
    return operations(what, *parts, counted="k", first_of_sums=1)


BNP = "Algorithm 2", first_step, middle_steps, last_steps
IN_PLACE = "Algorithm 2 with scaled variances", first_step, middle_steps, in_place
LAST_STEPS = "steps 4 and 5", last_steps
BN = "BN", with_averages, forward, backward(termwise)
BN_CLOSED = "BN in closed form", with_averages, forward, backward(fused)
TOTAL = 4 * n * N + 6 * n * p + 2 * p + 8 * n
LAST = 6 * n * p + 2 * p

section = of_layers("Sect. 3.3, Prop. 6", "L-prop-6", in_words="Steps are run, and counted.")

QUOTE = "The number of floating point operations used in one step"

PRECONDITIONING = [
    PRINTED := section(
        "", 248, QUOTE, "the operations of a step of BNP", equal(operations(*BNP), TOTAL),
        remark="A sum of k terms counts k - 1 additions, also of squares; an entry of a product of"
        " matrices, in step 5, 2k operations. With one rule for both another total comes out.",
    ),
    PRINTED.sharpened(
        "in-place", title="the operations of BNP with 1/q² in the variances",
        says=equal(operations(*IN_PLACE), 4 * n * N + 5 * n * p + 2 * p + 9 * n),
        remark="This saves an operation for each weight and costs one for each input.",
    ),
    ONE_LESS := section(
        "/one-less", 248, QUOTE, "the operations of BNP, one addition fewer in every sum",
        equal(one_less(*BNP), TOTAL), expected=REFUTED, form=Form.READING,
        remark="At N = n = p = 1 there are 19 operations; 20 are printed.",
    ),
    ONE_LESS.corrected(says=equal(one_less(*BNP), 4 * n * N + 6 * n * p + p + 8 * n)),
    ZERO := section(
        "/from-zero", 248, QUOTE, "the operations of BNP, every sum from zero",
        equal(from_zero(*BNP), TOTAL), expected=REFUTED, form=Form.READING,
        remark="At N = n = p = 1 there are 22 operations; 20 are printed.",
    ),
    ZERO.corrected(says=equal(from_zero(*BNP), 4 * n * N + 6 * n * p + 2 * p + 10 * n)),
    section(
        "/step-1", 244, "for the mini-batch mean and variance at Step 1",
        "the operations of Algorithm 2, step 1",
        equal(operations("step 1", first_step), 4 * n * N),
    ),
    section(
        "/steps-2-3", 244, "at Step 2 and Step 3", "the operations of Algorithm 2, steps 2 and 3",
        equal(operations("steps 2 and 3", middle_steps), 8 * n),
    ),
    section(
        "/steps-4-5", 244, "the preconditioned gradient (Step 4)",
        "the operations of Algorithm 2, steps 4 and 5",
        equal(operations(*LAST_STEPS), LAST),
        remark="The text says step 4 and counts both steps.",
    ),
    LAST_ONE_LESS := section(
        "/steps-4-5/one-less", 244, "the preconditioned gradient (Step 4)",
        "the operations of Algorithm 2, steps 4 and 5, one addition fewer in every sum",
        equal(one_less(*LAST_STEPS), LAST), expected=REFUTED, form=Form.READING,
    ),
    LAST_ONE_LESS.corrected(says=equal(one_less(*LAST_STEPS), 6 * n * p + p)),
    LAST_ONE_LESS.corrected(
        id="L-prop-6/steps-4-5/from-zero", amends=None,
        title="the operations of Algorithm 2, steps 4 and 5, every sum from zero",
        says=equal(from_zero(*LAST_STEPS), LAST), form=Form.READING,
    ),
]  # fmt: skip

WIDTH = 100
"""Of the hidden layers of sect. 5."""
LARGE_BATCH = assume(28 * N > 6 * p + 4 + 2 * p / n, printed=False)


def of_bn(name: str, quote: str, title: str, says: Any, **other: Any) -> Any:
    """Return an equation between the operations of BN and a number."""
    return section("/BN-" + name, 250, quote, title, says, **other)


ARRAYS = operations("the backward pass, as arrays", backward(literal))

NORMALIZATION = [
    of_bn(
        "statistics", "and their moving averages, which amounts to",
        "the operations of BN's statistics",
        equal(operations("the statistics and their averages", with_averages), 4 * n * N + 7 * n),
        remark="With an ϵ, and no operation for a square root; or without ϵ, and with one.",
    ),
    of_bn(
        "forward", "in the normalization step in the forward propagation",
        "the operations of BN's normalization",
        equal(operations("the normalization", forward), 4 * n * N),
    ),
    BACKWARD := of_bn(
        "backward", r"n_{\ell-1}N-3n_{\ell-1}",
        "the operations of BN's backward pass, term by term",
        equal(
            operations("the backward pass, term by term", backward(termwise)), 24 * n * N - 3 * n
        ),
        remark="The text gives no formulas. This way of counting gives its number: whatever stands"
        " in a term is done for every example, 1/σ and its cube are at hand, and the minus before"
        " 1/σ is an operation.",
    ),
    AS_ARRAYS := of_bn(
        "backward-as-arrays", r"n_{\ell-1}N-3n_{\ell-1}",
        "the operations of BN's backward pass, as arrays", equal(ARRAYS, 24 * n * N - 3 * n),
        expected=REFUTED, form=Form.READING,
        remark="What depends on the feature alone is computed once, not for every example; 1/σ and"
        " its cube are at hand, and a minus sign is no operation.",
    ),
    AS_ARRAYS.corrected(says=equal(ARRAYS, 21 * n * N - n)),
    BACKWARD.sharpened(
        "closed-form", title="the operations of BN's backward pass in closed form",
        says=equal(operations("the closed backward pass", backward(fused)), 7 * n * N + n),
        remark="From three examples on less than a third of the printed number.",
    ),
    of_bn(
        "total", "The total cost of BN is", "the operations of BN",
        equal(operations(*BN), 32 * n * N + 4 * n),
    ),
    CROSSOVER := section(
        "/crossover", 250, "BN is more efficient if", "which of BN and BNP takes fewer operations",
        equal(operations(*BN) - operations(*BNP), n * (28 * N - 6 * p) - 4 * n - 2 * p),
        remark="The text ignores the terms of first order.",
    ),
    CROSSOVER.sharpened(
        "closed-form", title="which takes fewer operations, BN in closed form",
        says=equal(operations(*BN_CLOSED) - operations(*BNP), n * (11 * N - 6 * p) - 2 * p),
    ),
    EXPECTED := section(
        "/expected", 250, "we expect", "whether BN takes more operations in the experiments",
        28 * N > 6 * number(WIDTH), form=Form.READING, expected=REFUTED, in_words="",
        remark="For layers of 100 units, as in sect. 5. It holds for the batches of 60, by 1680 >"
        " 600, and not for 28N = 448 at the batch of 16 of Table 1, where BN is faster too, nor for"
        " the batches of 6 and 1. The text expects it of typical networks.",
    ),
    EXPECTED.corrected(
        title="from which batch on BN takes more operations",
        says=operations(*BN) > operations(*BNP), hypotheses=(LARGE_BATCH,),
        in_words=PRINTED.in_words,
        because=n * LARGE_BATCH.slack,
        remark="For layers of 100 inputs and outputs from N = 22 on.",
    ),
]  # fmt: skip

CLAIMS = [*PRECONDITIONING, *NORMALIZATION]
