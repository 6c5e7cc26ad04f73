r"""Whether what hypotheses impose loses nothing: an instance that meets them comes back as it is.

A proof of instances that were changed so that they meet an equation q = 0 is one of all that meet
it only if the change is the identity there.  That is seen with every number a symbol: what the
change adds to each number vanishes by the equations.  So it must be a multiple of q by what has no
factor of q below its line: :math:`\gamma \mapsto \sigma` adds :math:`\sigma - \gamma`, which is
none of :math:`\gamma^2 - \sigma^2`, where :math:`\gamma = -\sigma` would be lost.  An inequality
has no such change.

>>> gamma, sigma = sp.symbols("gamma sigma")
>>> vanishes(sigma - gamma, [gamma - sigma]), vanishes(sigma - gamma, [gamma**2 - sigma**2])
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from theory.arithmetic.abstract import ONE, AbstractVector
from theory.claim import Claim
from theory.language.expression import SUM, Apply, Expression, Number, Says
from theory.language.operations import SquaredNorm
from theory.matrix_claim import MatrixClaim
from theory.statement import Hypothesis, Relation, Statement, values_of
from verify.subjects.unit import Change, LosesGeneralityError, imposed_by
from verify.witnesses.abstract_network import abstract_case, generic

UNSEEN = (
    *(TypeError, AttributeError, ValueError, IndexError, ZeroDivisionError),
    sp.PolynomialError,
)
"""What changes raise that ask symbols for more than their algebra: a sign, an index, a root."""


def vanishes(added: sp.Expr, equations: Sequence[sp.Expr]) -> bool:
    """Whether an expression is zero wherever the equations hold that these are zero.

    Equations in which a symbol stands alone are solved for it; of what is left one may be of any
    degree.
    """
    if added == 0:  # as nearly every number is that a change leaves alone
        return True
    left = [n for q in equations if (n := _numerator(_without_modulus(q))) != 0]
    added = _without_modulus(_with_known_roots(added, left))
    while (found := next(_solved(left), None)) is not None:
        equation, symbol, value = found
        added = sp.cancel(added.subs(symbol, value))
        left = [
            n for q in left if q is not equation and (n := _numerator(q.subs(symbol, value))) != 0
        ]
    if _numerator(added) == 0:
        return True
    if len(left) != 1:
        return False
    below = sp.fraction(sp.cancel(added / left[0]))[1]
    return bool(sp.gcd(below, left[0]).is_number)


def _with_known_roots(added: sp.Expr, equations: Sequence[sp.Expr]) -> sp.Expr:
    """Return an expression with numbers for the roots of what equations say is a number."""
    roots = [x for x in added.atoms(sp.Pow) if x.exp.is_Rational and x.exp.q == 2]
    squares = {root: (root.base, root.exp) for root in roots if root.base.is_polynomial()}
    squares |= {modulus: (modulus.args[0] ** 2, sp.S.Half) for modulus in added.atoms(sp.Abs)}
    known = {}
    for (root, (base, power)), equation in product(squares.items(), equations):
        if equation.is_polynomial() and equation.free_symbols:
            rest = sp.reduced(base, [equation], *equation.free_symbols)[1]
            if rest.is_number and rest.is_positive:
                known[root] = rest**power
    return added.xreplace(known)


def _numerator(expression: sp.Expr) -> sp.Expr:
    return sp.fraction(sp.cancel(expression))[0]


def _solved(equations: Iterable[sp.Expr]) -> Iterator[tuple[sp.Expr, sp.Symbol, sp.Expr]]:
    """Yield the equations with a symbol whose coefficient is never zero, and what it is worth."""
    for equation in equations:
        for symbol in sorted(equation.free_symbols, key=str):
            polynomial = sp.Poly(equation, symbol)
            if polynomial.degree() == 1 and (slope := polynomial.coeff_monomial(symbol)).is_nonzero:
                yield equation, symbol, -polynomial.coeff_monomial(1) / slope


@cache
def without_loss(claim: Claim) -> tuple[Change, ...]:
    """Return what a proof imposes on the generic case; nothing where there is a certificate.

    Raises:
        LosesGeneralityError: that it loses nothing is not seen.
    """
    if claim.because is not None or not imposed_by(claim):
        return ()
    if not keeps_a_batch(claim):
        raise LosesGeneralityError("impose= changes instances that meet its equation")
    return imposed_by(claim)


def keeps_a_batch(claim: Claim) -> bool:
    """Whether what a claim imposes gives back every batch that meets its equations.

    Raises:
        LosesGeneralityError: it is not for symbols.
    """
    case = abstract_case(claim.reading.has_epsilon)
    unit = claim.read(generic(claim.reading.has_epsilon))
    with _for_symbols():
        zeros = _zeros(claim.hypotheses, unit)
        equations, vectors = _of_a_batch(zeros, claim.reading.has_epsilon)
        added = (_less(value, vectors) for value in _added(claim, case, case.real()))
        return _vanish(added, equations)


def _of_a_batch(
    zeros: Iterable[Any], may_be_constant: bool
) -> tuple[list[sp.Expr], list[AbstractVector]]:
    """Return the numbers that are zero, and the vectors that are and have other names in them.

    Where the batch may be constant a multiple of the centred one may be zero with any factor, and
    with a factor that is no zero it is the centred batch that is.
    """
    equations: list[sp.Expr] = []
    vectors: list[AbstractVector] = []
    for value in zeros:
        if isinstance(value, AbstractVector) and not _is_of_the_batch(value):
            vectors.append(value)
        elif isinstance(value, AbstractVector) and may_be_constant:
            vectors.append(value)
            equations += [c for (_, name), c in value.coefficients.items() if name == ONE]
        else:
            equations += entries(value)
    return equations, vectors


def keeps(claim: MatrixClaim, subject: Any) -> bool:
    """Whether what a statement about matrices imposes gives back every subject that meets it.

    Args:
        claim: the statement.
        subject: one of letters.

    Raises:
        LosesGeneralityError: it is not for symbols.
    """
    with _for_symbols():
        zeros = _zeros(claim.hypotheses, subject)
        equations = [entry for value in zeros for entry in entries(value)]
        return _vanish(_added(claim, subject, subject.names()), equations)


def _added(claim: Statement, subject: Any, names: Iterable[str]) -> Iterator[Any]:
    """Yield what each change that a statement imposes adds to each number."""
    names = [*names]
    for change in imposed_by(claim):
        changed = change(subject.copied())
        yield from (getattr(changed, name) - getattr(subject, name) for name in names)


def _vanish(values: Iterable[Any], equations: Sequence[sp.Expr]) -> bool:
    return all(vanishes(entry, equations) for value in values for entry in entries(value))


@contextmanager
def _for_symbols() -> Iterator[None]:
    try:
        yield
    except LosesGeneralityError:
        raise
    except UNSEEN as error:
        raise LosesGeneralityError(f"impose= asks symbols for more than algebra: {error}") from None


def _zeros(hypotheses: Iterable[Hypothesis], subject: Any) -> Iterator[Any]:
    """Yield what is zero where the equations among hypotheses hold: of squares their roots."""
    for hypothesis in hypotheses:
        if hypothesis.sign is Relation.EQUAL:
            roots = _squared(hypothesis.says)
            yield from (values_of(subject)[root] for root in roots)
            if not roots:
                yield hypothesis.quantity(subject)


def _squared(says: Says) -> list[Expression]:
    """Return the vectors that are zero, where a sum of their squared norms is said to be."""
    if says.claimed != Number(0):
        return []
    expression = says.actual
    is_sum = isinstance(expression, Apply) and expression.operation is SUM
    terms = expression.parts if is_sum else (expression,)
    norms = [t for t in terms if isinstance(t, Apply) and isinstance(t.operation, SquaredNorm)]
    return [term.operands[0] for term in norms] if len(norms) == len(terms) else []


def _is_of_the_batch(vector: AbstractVector) -> bool:
    """Whether it is made of the ones and of the centred batch, which are independent."""
    return vector.coefficients.keys() <= {(0, ONE), (0, "c")}


def _less(added: Any, vectors: Sequence[AbstractVector]) -> Any:
    """Return a vector less the multiples of vectors that are zero, so that one name is gone."""
    for zero in vectors:
        kept = (ONE,) if _is_of_the_batch(zero) else (ONE, "c")
        named = ((label, c) for label, c in zero.coefficients.items() if label[1] not in kept)
        label, number = next((one for one in named if sp.sympify(one[1]).is_nonzero), (None, 1))
        if isinstance(added, AbstractVector) and label in added.coefficients:
            added = added - zero * (added.coefficients[label] / number)
    return added


def entries(value: Any) -> list[sp.Expr]:
    """Return the numbers of a value: coefficients of a vector, entries of an array."""
    if isinstance(value, AbstractVector):
        return [sp.sympify(c) for c in value.coefficients.values()]
    return [sp.sympify(entry) for entry in np.ravel(np.asarray(value, dtype=object))]


def _without_modulus(number: Any) -> sp.Expr:
    """Return a number with its absolute values as symbols, which are never negative."""
    return sp.sympify(number).replace(sp.Abs, lambda x: sp.Symbol(f"|{x}|", nonnegative=True))
