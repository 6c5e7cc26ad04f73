r"""The proof of Theorem 4, equations (28) to (32), and a shorter one; at a generic z = (t, x).

All of the paper's lines hold, with the strictness that the text claims, but for a number: before
the smallest eigenvalues it announces (29) where (28) is used.  In the second case the numerator of
the last quotient must not be negative; it is :math:`z^\top\hat H^\top\hat H z` at (s, x), so it is
not, which the text needs and does not say.

*In fewer lines.*  :math:`z^\top U^\top A U z = N t^2 + x^\top C x`, so every quotient of
:math:`U^\top A U` is a mean of N, which is A's own quotient at the first unit vector, and one of C.
And C's lie between A's:

- above, :math:`x^\top C x \le (0, x)^\top A (0, x)`;
- below, :math:`x^\top C x = z^\top A z` at :math:`z = (-\mu_H^\top x, x)`, a longer vector than x,
  in place of the paper's two cases for the smallest eigenvalue.

*Without full column rank* the null space of A is that of C, mapped by
:math:`y \mapsto n(y) = (-\mu_H^\top y, y)`.  A vector z orthogonal to y keeps, orthogonally to
n(y), at least the length of x; and the first unit vector keeps the part :math:`\|y\|^2/\|n(y)\|^2`
of its squared length, which is least for the projection :math:`y = \mu_0` of the mean,
:math:`1/(1 + \|\mu_0\|^2)`: the factor in the correction of the theorem at any rank.
"""

from dataclasses import replace
from typing import Any

from theory.lange2022.texts import of_layers
from theory.lange2022.theorem_4 import MEAN_NONZERO
from theory.language.arrays import first, norm2
from theory.language.expression import Expression, Letter, Primitive, Sort, equal, named
from theory.language.letters import free, vector_of
from theory.layer import HU, C, H, Hhat, N, dot, e, form, means, stacked, t, z
from theory.layer import x as x_of_z
from theory.statement import REFUTED, Form, assume

x = replace(x_of_z, domain="")
"""The same where no z is displayed."""
y = vector_of("y", "y", "mean")
"""Any vector, (n,)."""
MEAN_ALONG = dot(x, means)
SQUARE = form(H, x)
couple = Primitive(
    "couple",
    lambda layer, a, b: stacked.meaning(a, stacked.meaning(b, layer.direction[:0])),
    r"\left({0},\ {1}\right)", gives=Sort.VECTOR, takes=(Sort.NUMBER, Sort.NUMBER),
)  # fmt: skip
"""Two numbers as a vector."""


def lifted(vector: Expression) -> Expression:
    r"""Return :math:`(-\mu_H^\top x, x)`."""
    return stacked(-dot(means, vector), vector)


def after(t: Expression) -> Expression:
    """Return the right side of (28) at (t, x)."""
    return N * (t**2 - MEAN_ALONG**2) + SQUARE


def before(t: Expression) -> Expression:
    """Return that of (29), with the square completed."""
    return N * (t + MEAN_ALONG) ** 2 - N * MEAN_ALONG**2 + SQUARE


step = of_layers("App. A, proof of Theorem 4", "L-thm-4a", form=Form.SHARPENED, amends="L-thm-4a")
QUOTE = r"(H^{T}-\mu_{H}e^{T})(H-e\mu_{H}^{T})"
zx, ny = lifted(x), lifted(y)


def orthogonal(layer: Any) -> Any:
    """Take from y, times the square of x, what it has along x."""
    along = layer.direction[1:]
    return replace(layer, mean=along @ along * layer.mean - along @ layer.mean * along)


ORTHOGONAL = assume(equal(dot(x, y), 0), impose=orthogonal, printed=False)

CENTRING_STEPS = [
    step(
        "/step-blocks", 586, QUOTE, "the quadratic form after centring",
        equal(form(HU, z), N * t**2 + form(C, x)), form=Form.STEP, amends=None,
    ),
    step(
        "/step-above", 586, QUOTE, "the centred quotients from above",
        form(C, x) <= form(Hhat, stacked(0, x)), because=N * dot(means, x) ** 2,
    ),
    step(
        "/step-below", 586, QUOTE, "the centred quotients from below",
        norm2(zx) * form(C, x) >= norm2(x) * form(Hhat, zx),
        because=dot(means, x) ** 2 * norm2(C @ x),
    ),
    step(
        "/step-null", 586, QUOTE, "vectors of the null space after centring",
        equal(Hhat @ lifted(x), C @ x),
    ),
    step(
        "/step-null-only", 586, QUOTE, "no other vectors of the null space after centring",
        equal(1 / N * dot(e, Hhat @ z), t + dot(means, x)),
        remark="With z = (t, x): where Ĥz = 0, t = -μᵀx, so that z comes from a vector x of the"
        " null space after centring, as in the step before.",
    ),
    step(
        "/step-any-rank-x", 586, QUOTE, "what the null space leaves of a vector",
        norm2(zx) * norm2(ny) - dot(zx, ny) ** 2 >= norm2(x) * norm2(ny),
        hypotheses=(ORTHOGONAL,),
        because=dot(means, x) ** 2 * norm2(y)
        + (-2 * dot(means, x) * dot(means, y) - dot(x, y)) * ORTHOGONAL.slack,
    ),
    step(
        "/step-any-rank-bias", 586, QUOTE, "what the null space leaves of the bias",
        equal(norm2(ny) - first(ny) ** 2, norm2(y)),
    ),
]  # fmt: skip

line = of_layers("App. A, proof of Theorem 4", "L-eq-28-32", form=Form.STEP)
r = 1 / (1 + norm2(means))

proof = of_layers("App. A, proof of Theorem 4", "L-eq-28-32", "L-proof-thm-4", form=Form.STEP)
EQUATIONS = [
    line(
        "/28", 594, r"N(t^{2}-(x^{T}\mu_{H})^{2})", "the quadratic form after centring, (28)",
        equal(form(HU, z), after(t)), place="App. A, proof of Theorem 4, (28)",
    ),
    line(
        "/29", 601, r"N(t^{2}+2tx^{T}\mu_{H})+x^{T}H^{T}Hx",
        "the quadratic form before centring, (29)",
        equal(form(Hhat, z), N * (t**2 + 2 * t * MEAN_ALONG) + SQUARE),
    ),
    proof(
        "/square-completed", 602, r"N(t+x^{T}\mu_{H})^{2}-N(x^{T}\mu_{H})^{2}",
        "the quadratic form before centring, completed",
        equal(form(Hhat, z), before(t)),
    ),
    line(
        "/30", 607, r"\leq\frac{N(1+2\mu_{H}^{T}\mu_{H})",
        "the largest eigenvalue, first case, (30)",
        N <= (N * (1 + 2 * norm2(means)) + form(H, means)) / (1 + norm2(means)),
        because=N * r**2 * norm2(means)
        + N * r**2 * norm2(means) * norm2(means)
        + r**2 * norm2(H @ means)
        + r**2 * norm2(H @ means) * norm2(means),
    ),
    line(
        "/30-strict", 611, "where the inequality (30) is strict if", "when (30) is strict",
        N * (1 + norm2(means)) < N * (1 + 2 * norm2(means)) + form(H, means),
        hypotheses=(MEAN_NONZERO,), because=N * MEAN_NONZERO.slack + norm2(H @ means),
    ),
    line(
        "/31", 615, r"-N(x_{\max}^{T}\mu_{H})^{2}+x_{\max}^{T}H^{T}Hx_{\max}",
        "the largest eigenvalue, second case, (31)",
        form(C, x) / norm2(x) <= form(H, x) / norm2(x), because=N / norm2(x) * MEAN_ALONG**2,
    ),
    line(
        "/31-strict", 619, "where the inequality (31) is strict if", "when (31) is strict",
        form(C, x) < form(H, x),
        hypotheses=(NOT_ORTHOGONAL := assume(MEAN_ALONG**2 > 0),),
        because=N * NOT_ORTHOGONAL.slack,
    ),
]  # fmt: skip

s = named("s", -t - MEAN_ALONG)
T_SQUARE, S_SQUARE = t**2 + norm2(x), s**2 + norm2(x)
BELOW = assume(MEAN_ALONG <= 0)
NEAR = assume(MEAN_ALONG >= -(2 * t))
FAR = assume(MEAN_ALONG <= -(2 * t))


def second_case(part: Expression) -> Expression:
    """Return a part of the second case's last quotient: a square above, over both lengths."""
    image = norm2(Hhat @ stacked(s, x))
    return 1 / T_SQUARE * (1 / S_SQUARE) ** 2 * part * image * BELOW.slack * FAR.slack


SMALLEST = [
    proof(
        "/number-of-the-equation", 621, "First, using (29), we have",
        "(29) named where (28) is meant",
        equal(form(HU, z), N * (t**2 + 2 * t * MEAN_ALONG) + SQUARE),
        expected=REFUTED, corrected_by="L-eq-28-32/28",
        remark="The number alone is wrong: the display that follows has the right side of (28).",
    ),
    line(
        "/32", 626, "holds since the function is not dependent on the sign of",
        "the signs of t and x, (32)",
        equal(
            couple(form(HU, stacked(-t, x)), form(HU, stacked(t, -x))),
            couple(form(HU, z), form(HU, z)),
        ),
    ),
    proof(
        "/smallest-first-case", 628,
        r"\frac{Nt^{2}-N(x^{T}\mu_{H})^{2}+x^{T}H^{T}Hx}{t^{2}+x^{T}x}\geq",
        "the smallest eigenvalue, first case",
        after(t) / T_SQUARE >= before(t) / T_SQUARE, hypotheses=(BELOW, NEAR),
        because=N / T_SQUARE * BELOW.slack * NEAR.slack,
    ),
    proof(
        "/smallest-second-case", 632, r"=\frac{N(s+x^{T}\mu_{H})^{2}",
        "the smallest eigenvalue, second case",
        equal(after(t), before(s)),
    ),
    proof(
        "/larger-denominator", 633, r"\geq\frac{N(s+x^{T}\mu_{H})^{2}",
        "the smallest eigenvalue, second case, the larger denominator",
        before(s) / T_SQUARE >= before(s) / S_SQUARE, hypotheses=(BELOW, FAR),
        because=second_case(s**2) + second_case(norm2(x)),
        remark="The text does not say why the numerator is not negative: it is a square at (s, x).",
    ),
]  # fmt: skip

beta = Letter("beta", r"\beta", Sort.NUMBER, free(0))
gamma = Letter("gamma", r"\gamma", Sort.NUMBER, free(1))
"""Any numbers; the extreme eigenvalues of C are meant."""
ALONG_OF_Z = dot(x_of_z, means)
NOT_ABOVE, NOT_BELOW = (
    assume(says, printed=False)
    for says in (
        N * beta * ALONG_OF_Z**2 <= (beta - N) * (beta * norm2(x_of_z) - form(C, x_of_z)),
        N * gamma * ALONG_OF_Z**2 <= (N - gamma) * (form(C, x_of_z) - gamma * norm2(x_of_z)),
    )
)
strict = of_layers(
    "Sect. 3.3, Theorem 4", "L-thm-4b", form=Form.SHARPENED, amends="L-thm-4b/equality",
)  # fmt: skip
UNCHANGED = [
    strict(
        "/step-largest", 203, "This inequality is strict if",
        "when the largest eigenvalue stays",
        (beta - N) * (beta * norm2(z) - form(Hhat, z)) >= 0, hypotheses=(NOT_ABOVE,),
        because=((beta - N) * t - N * ALONG_OF_Z) ** 2 + NOT_ABOVE.slack,
        remark="The hypothesis at every x says that βI - C - Nβ/(β - N) μμᵀ is positive"
        " semi-definite, for β > N: a Schur complement.",
    ),
    strict(
        "/step-smallest", 203, "This inequality is strict if",
        "when the smallest eigenvalue stays",
        (N - gamma) * (form(Hhat, z) - gamma * norm2(z)) >= 0, hypotheses=(NOT_BELOW,),
        because=((N - gamma) * t + N * ALONG_OF_Z) ** 2 + NOT_BELOW.slack,
        remark="As for the largest, with the signs turned round.",
    ),
]  # fmt: skip

CLAIMS = [*CENTRING_STEPS, *UNCHANGED, *EQUATIONS, *SMALLEST]
