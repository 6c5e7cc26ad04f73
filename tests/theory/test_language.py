"""What expressions are read as: certificates, nesting of derivatives, fractions of arrays."""

from fractions import Fraction

import pytest
import torch

from theory import layer, maps, unit
from theory.arithmetic import dual
from theory.lange2022.lemma_a2 import logarithm
from theory.language.arrays import transpose
from theory.language.certificates import products
from theory.language.expression import (
    SUM,
    Letter,
    Operation,
    Relation,
    Says,
    Sort,
    SortError,
    along,
    derivatives_in,
    equal,
    gradient,
    named,
    number,
)
from theory.language.latex import denial, latex
from theory.language.operations import absolute, norm2, row
from theory.language.plain import plain
from theory.language.values import Values
from theory.santurkar2018.letters import hessian as printed
from theory.santurkar2018.theorem_4_4 import largest

a, b = Letter("a", "a", value=lambda s: s["a"]), Letter("b", "b", value=lambda s: s["b"])
v = Letter("v", "v", Sort.VECTOR, lambda s: s["v"])
SLACK = (b <= a).slack


def test_a_slack_is_read_as_one_factor_wherever_it_stands():
    for of_slack in (SLACK, 2 * SLACK / b):
        square, product = products(norm2(v) + of_slack, {SLACK})
        assert square.squares == [v]
        assert product.slacks == [SLACK]
    assert len(products(norm2(v) + SLACK, set())) == 3  # no hypothesis has it


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("sides", [(a, b), (a, number(0)), (number(0), b)])
def test_the_slack_that_is_displayed_is_what_a_certificate_adds_up_to(relation, sides):
    says = Says(sides[0], relation, sides[1])
    values = Values({"a": 5, "b": 3})
    assert values[says.slack] == says.slack_of(*values.sides(says))


def test_derivatives_nest_through_their_function_alone():
    once = gradient(norm2(v), v)
    twice = gradient(norm2(once), v)
    assert (derivatives_in(once), derivatives_in(twice)) == (1, 2)
    assert derivatives_in(along(norm2(v), v, once)) == 1
    assert derivatives_in(gradient(norm2(v), v, at=once)) == 1


def test_fractions_divide_arrays_and_each_other():
    found = Values({"a": torch.tensor(4.0, dtype=torch.float64)})
    third = number(1) / 3
    assert float(found[third / a]) == pytest.approx(1 / 12, rel=1e-15)
    assert float(found[a / third]) == pytest.approx(12, rel=1e-15)
    assert found[third / (number(2) / 3)] == Fraction(1, 2)


class Differentiating:
    """A subject of numbers that counts what it differentiates."""

    def __init__(self):
        self.points = []

    def differential(self, f, x):
        self.points.append(x)
        return lambda u: dual.derivative(lambda t: f(x + t * u), 0, 1)


def test_a_function_is_differentiated_once_at_each_point_for_all_directions():
    x, t = Letter("x", "x", value=lambda s: 3), Letter("t", "t", value=lambda s: 4)
    subject = Differentiating()
    values = Values(subject)
    slopes = [along(x**3, x, number(u), at=number(at)) for at in (2, 5) for u in (1, 7)]
    assert [values[slope] for slope in slopes] == [12, 84, 75, 525]
    assert subject.points == [2, 5]
    assert [values[along(x * t, of, number(7), at=number(2))] for of in (x, t)] == [28, 21]
    assert subject.points == [2, 5, 2, 2]


def test_what_means_nothing_is_refused():
    for meaningless in (
        lambda: v + a,
        lambda: gradient(v, v),
        lambda: equal(a, v),
        lambda: along(norm2(v), v, a),
        lambda: gradient(norm2(v), v, at=a),
        lambda: layer.squares(layer.H),
    ):
        with pytest.raises(SortError):
            meaningless()
    with pytest.raises(TypeError, match="neither true nor false"):
        _ = a <= b <= a


@pytest.mark.parametrize(
    "product",
    [
        lambda: v @ v,
        lambda: layer.e @ layer.H,
        lambda: layer.H @ layer.mu @ layer.H,
        lambda: layer.H @ a,
        lambda: layer.H @ 2,
        lambda: layer.H @ h,
    ],
)
def test_a_matrix_product_has_one_vector_at_most_and_last(product):
    with pytest.raises(SortError, match=r"given .* dot\(a, b\) .* transpose\(A\)"):
        product()


def test_a_matrix_product_of_matrices_is_one_and_with_a_vector_a_vector():
    gram = transpose(layer.H) @ layer.H
    assert gram.sort is Sort.MATRIX
    assert (gram @ layer.mu).sort is Sort.VECTOR


def test_a_power_of_a_power_is_written_as_python_reads_it():
    for power in ((a**2) ** 3, -((a**2) ** 2), a ** (b**2), (a * b) ** 2, (-a) ** 2, (a / b) ** 2):
        assert eval(plain(power), {"a": a, "b": b}) == power
    assert plain(((a**2) ** 3 <= a**8).actual) != plain(a ** number(2) ** 3)


def test_what_ends_with_an_operand_or_a_superscript_is_raised_in_parentheses():
    of_squares = layer.largest_entry(layer.squares(v))
    assert latex(layer.largest_entry(v) ** 2) == r"\left(\max v\right)^{2}"
    assert latex(of_squares) == r"\max v^2"
    assert latex(layer.squares(layer.reciprocal(v))) == r"\left(v^{-1}\right)^2"


def test_what_falsifies_a_statement_is_the_opposite_relation():
    denials = {"<=": ">", ">=": "<", "<": r"\ge", ">": r"\le", "=": r"\ne"}
    for relation in Relation:
        assert denial(Says(a, relation, b)) == f"a {denials[relation.value]} b"


def test_what_ends_with_a_subscript_takes_another_in_parentheses():
    last = Operation("last", lambda x: x[-1], r"{0:atom}_n", takes=(Sort.VECTOR,))
    assert latex(last(v)) == "v_n"
    assert latex(last(Letter("mu", r"\mu_{H}", Sort.VECTOR))) == r"\left(\mu_{H}\right)_n"


def test_a_name_holds_together_as_it_looks():
    difference = named("a - b", a - b)
    assert latex(difference * b) == r"\left(a - b\right) b"
    assert latex(a - difference) == r"a - \left(a - b\right)"
    assert latex(Letter("k*", "k^*") ** 2) == r"\left(k^*\right)^{2}"
    assert latex(layer.squares(named("X y", v))) == r"\left(X y\right)^2"
    assert latex(row(named(r"\nabla L", v), v)) == r"\left(\nabla L\right)^\top v"
    for reaching in (r"\sum_i a_i", r"c \max d", r"\sup_x f(x)", r"\exp c"):
        assert latex(named(reaching, a) * b) == rf"\left({reaching}\right) b"
        assert latex(b * named(reaching, a)) == f"b {reaching}"
    assert latex(named(r"\exp(c)", a) * b) == r"\exp(c) b"
    assert latex(largest(v, a) * b).endswith(r"\|X^\top v\|^2\right) b")


@pytest.mark.parametrize(
    "symbol", [r"\hat y_{ij}(p)", r"\mathcal B_{0,1}", r"\|a - b\|", r"\big[a_i b\big]_{i > j}"]
)
def test_a_name_that_is_one_symbol_needs_no_parentheses(symbol):
    assert latex(named(symbol, a) ** 2) == f"{symbol}^{{2}}"


def test_numbers_side_by_side_are_told_from_one_number():
    assert latex((layer.H * 2) @ (3 * v)) == r"H \cdot 2 \cdot 3 v"


def test_bars_that_could_be_taken_for_the_end_of_others_are_in_parentheses():
    assert latex(absolute(a * absolute(b) * a)) == r"|\left(a |b| a\right)|"
    assert latex(absolute(absolute(a) * absolute(b))) == r"|\left(|a| |b|\right)|"
    assert latex(absolute(absolute(a) - absolute(b) * a)) == "||a| - |b| a|"
    assert latex(absolute(a / absolute(b))) == r"|\frac{a}{|b|}|"


def test_a_formula_shows_as_itself_and_in_a_notebook_as_latex():
    assert repr([2 * a**2, a <= b]) == "[2*a**2, a <= b]"
    assert (a**2)._repr_latex_() == "$a^{2}$"
    assert (a <= b)._repr_latex_() == r"$a \le b$"


def test_a_sum_goes_on_with_the_sign_of_its_term():
    assert latex(SUM(a, SUM(-b, a), -3)) == "a - b + a - 3"
    assert plain(SUM(a, SUM(-b, a))) == "a - b + a"
    assert latex(a - SUM(-b, a)) == r"a - \left(-b + a\right)"


def test_a_logarithm_may_be_that_of_a_letter():
    assert latex(logarithm(a) * b) == r"\left(\log a\right) b"


def test_a_name_is_told_from_what_is_calculated_with_it():
    optimum, mean = Letter("k*", "k^*"), Letter("E h", r"\mathbb{E}h")
    assert plain(optimum * a) == "(k*)*a"
    assert plain(a * mean - 1) == "a*(E h) - 1"
    assert plain(mean + 1) == "E h + 1"
    assert plain(Letter("n_(l-1)", r"n_{\ell-1}") * a) == "n_(l-1)*a"


def test_division_by_a_diagonal_matrix_is_one_product_in_text_as_it_is_in_latex():
    assert latex(layer.over_diag(layer.H, v)) == r"H \operatorname{diag}(v)^{-1}"
    assert plain(layer.over_diag(layer.H, v)) == "times(H, inverse diag(v))"


h, k, w, bias = maps.h, maps.k, maps.w, maps.b
SQUARED_SUM = r"\left(\sum_{i=1}^N \sum_{u=1}^r \sum_{v=1}^s h^{(i)}(u, v, p)\right)"


@pytest.mark.parametrize(
    ("formula", "display"),
    [
        (2 * maps.Conv(h, w, bias), r"2 \left(\operatorname{Conv}(h, w) + b\right)"),
        (-maps.Conv(h, w, bias), r"-\left(\operatorname{Conv}(h, w) + b\right)"),
        (maps.Conv(h, w, -bias), r"\operatorname{Conv}(h, w) + \left(-b\right)"),
        (maps.map_sum(h) ** 2, SQUARED_SUM + "^{2}"),
        (maps.map_sum(h) * a, SQUARED_SUM + " a"),
        (maps.entry(h + h, a, b), r"\left(h + h\right)(a, b, p)"),
        (maps.counted(a + 1) * b, r"\left(a + 1\right) b"),
        (maps.counted(a - 1) ** 2, r"\left(a - 1\right)^{2}"),
    ],
)
def test_what_is_not_one_symbol_is_displayed_in_parentheses(formula, display):
    assert latex(formula) == display


def test_an_operator_reaches_to_the_end_of_a_product():
    total = latex(maps.map_sum(h))
    assert latex(a * maps.map_sum(h)) == f"a {total}"
    assert latex(a - maps.map_sum(h)) == f"a - {total}"
    assert latex(layer.largest_entry(v) * a) == r"\left(\max v\right) a"
    assert latex(a * layer.largest_entry(v)) == r"a \max v"
    assert latex((a * maps.map_sum(h)) / 2) == rf"\frac{{a {total}}}{{2}}"


def test_a_mean_of_squares_is_told_from_the_square_of_a_mean():
    of_squares = maps.left_out_square(h + h, *maps.WINDOW)
    squared = maps.left_out_mean(h + h, *maps.WINDOW) ** 2
    assert latex(of_squares).endswith(r"} \left(h + h\right)^2")
    assert latex(squared).startswith(r"\left(\operatorname{mean}")
    assert latex(squared).endswith(r"} \left(h + h\right)\right)^{2}")


def test_a_sum_that_is_subtracted_is_displayed_in_parentheses():
    assert latex(maps.map_squares(h, a + b)).endswith(r" - \left(a + b\right)\big)^2")


def test_the_hessian_has_its_exponents_but_where_a_paper_prints_none():
    assert latex(unit.hessian(unit.y)) == r"\frac{\partial^2\hat L}{\partial y^2} y"
    assert latex(printed(unit.y)) == r"\frac{\partial\hat L}{\partial y\partial y} y"


def test_a_derivative_is_displayed_at_its_point():
    x = Letter("x", "x")
    slope = along(absolute(x), x, number(1), at=2 * x)
    assert latex(gradient(norm2(v), v)) == r"\nabla \|v\|^2"
    assert latex(gradient(norm2(v), v, at=2 * v)) == (
        r"\frac{\partial}{\partial v}\left[\|v\|^2\right]_{v = 2 v}"
    )
    assert latex(slope) == r"\frac{\partial}{\partial x}\left[|x|\right]_{x = 2 x}\left[1\right]"
    assert latex(gradient(unit.L(v), v, at=2 * v)) == r"\nabla L(2 v)"
    assert latex(along(-x, x, number(1))) == r"\mathrm D \left(-x\right)\left[1\right]"


def test_a_sum_less_than_its_largest_eigenvalue_is_in_parentheses():
    H, mu = layer.H, layer.mu
    assert latex(layer.top_resolvent(H + H, mu)) == (
        r"\mu^\top (\lambda_{\max}(H + H) - \left(H + H\right))^+ \mu"
    )
    assert latex(layer.bottom_resolvent(H - H, mu)) == (
        r"\mu^\top (H - H - \lambda_{\min}(H - H))^+ \mu"
    )
