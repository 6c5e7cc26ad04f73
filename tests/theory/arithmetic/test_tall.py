"""Matrices of symbolic height against matrices of numbers, and what they refuse."""

import numpy as np
import pytest
import sympy as sp

from theory import batchnorm, preconditioning
from theory.arithmetic import tall
from theory.arithmetic.tall import Tall

NUMBERS = np.array(sp.Matrix([[1, -2, 5], [3, 5, 0], [4, 1, 7], [-2, 1, 2]]))
ROW = np.array([7, -3, sp.Rational(1, 2)], dtype=object)
MATRIX = np.array([[1, 2], [-3, 4], [5, 0]], dtype=object)

FORMULAS = {
    "transposed product": lambda H: (MATRIX.T @ H.T) @ H,
    "row less matrix": lambda H: (ROW - 2 * H).sum(0),
    "divided": lambda H: ((H / ROW) * (1 + H)).sum(0),
    "squares": lambda H: ((H @ MATRIX) ** 2).sum(),
    "mean and variance": lambda H: batchnorm.variance(H) + preconditioning.means(H),
}


def evaluated(found: object) -> np.ndarray:
    """The expressions with the inner products of the columns of NUMBERS, and N."""
    columns = {f"h{j + 1}": NUMBERS[:, j] for j in range(NUMBERS.shape[1])}
    columns["one"] = np.ones(len(NUMBERS), dtype=object)
    products = {
        f"<{min(a, b)}, {max(a, b)}>": x @ y for a, x in columns.items() for b, y in columns.items()
    }

    def number(expression: object) -> sp.Expr:
        letters = sp.sympify(expression).free_symbols
        known = {s: products.get(s.name, len(NUMBERS)) for s in letters}
        return sp.sympify(expression).subs(known)

    return np.vectorize(number, otypes=[object])(np.asarray(found, dtype=object))


@pytest.mark.parametrize("name", FORMULAS)
def test_what_holds_for_every_height_holds_for_four_rows(name: str) -> None:
    expected = np.asarray(FORMULAS[name](NUMBERS), dtype=object)
    found = evaluated(FORMULAS[name](tall.matrix("h", 3)))
    assert np.all(np.reshape(found, expected.shape) == expected)


def test_coefficients_vanish_only_with_the_matrix() -> None:
    H = tall.matrix("h", 2)
    assert not (H - H).coefficients().any()
    assert (H - 2 * H).coefficients().any()


REFUSED = {
    "one row": lambda H: H[0],
    "rows": lambda H: H[1:],
    "sum of columns": lambda H: H.sum(1),
    "sums of products of columns": lambda H: (H * H).sum(1),
    "cubes": lambda H: H**3,
    "other height": lambda H: H.__array_namespace__().ones((3, 1)),
    "on top": lambda H: H.__array_namespace__().concat([H, H], axis=0),
    "product of products": lambda H: (H * H) * H,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_inner_products_do_not_determine_is_refused(name: str) -> None:
    with pytest.raises(TypeError):
        REFUSED[name](tall.matrix("h", 2))


def test_a_diagonal_operator_is_an_elementwise_product() -> None:
    H = tall.matrix("h", 2)
    ones = H.__array_namespace__().ones((H.length(), 1))
    diagonal = Tall([ones.columns[0].apply_operator()])
    with pytest.raises(TypeError):
        H.T @ (diagonal * H)
    H.space.operator_is_diagonal = True
    found = H.T @ (diagonal * H)
    assert str(found[0, 1]) == "<h1, H h2>"
    assert found[0, 1] == found[1, 0]


def test_height_is_one_symbol() -> None:
    H = tall.matrix("h", 2)
    assert isinstance(H @ MATRIX[:2], Tall)
    assert H.shape == (H.length(), 2)
