r"""One unit of a network with Batch Normalization: the letters and functions of statements on it.

The batch :math:`y \in \mathbb R^m` is what the layer is given, :math:`z` what it gives, and
:math:`L` the loss as a function of z.  Functions are the network's own, built from primitives;
letters are the paper's symbols in closed form, and what :math:`\sigma` and :math:`\hat y` mean once
there is an epsilon is the statement's reading.
"""

from __future__ import annotations

from theory.language.expression import Expression, Letter, Primitive, Sort, along, gradient, named
from theory.language.letters import number_of, vector_of
from theory.language.operations import average, spread

_V = Sort.VECTOR

m = number_of("m", "m")
gamma = number_of("gamma", r"\gamma")
beta = number_of("beta", r"\beta")
sigma = number_of("sigma", r"\sigma")
eps = number_of("eps", r"\epsilon")
bound = number_of("lambda", r"\lambda", "bound", r"\lambda > 0")
"""The bound on the spectral norm of the inputs."""
later_normalizations = number_of("later", r"\#\text{later normalisations}", "later_normalizations")

y = vector_of("y", "y")
z = vector_of("z", "z")
g = vector_of("g", "g")
yhat = vector_of("yhat", r"\hat y")
one = vector_of("one", r"\mathbf 1")
u = vector_of("u", "u", "direction")
"""Any vector."""
v = vector_of("v", "v", "other_direction")
"""Any second vector."""

L = Primitive("L", lambda unit, z: unit.loss(z), "L({0})", takes=(_V,), reads=("loss",))
Lhat = Primitive(
    "Lhat", lambda unit, y: unit.normalized_loss(y), r"\hat L({0})", takes=(_V,),
    reads=("gamma", "beta", "eps", "loss"),
)  # fmt: skip
BN = Primitive(
    "BN", lambda unit, y: unit.forward(y), r"\mathrm{{BN}}({0})", gives=_V, takes=(_V,),
    reads=("gamma", "beta", "eps"),
)  # fmt: skip
normalize = Primitive(
    "normalize", lambda unit, y: unit.normalize(y), r"\hat y({0})", gives=_V, takes=(_V,),
    reads=("eps",),
)  # fmt: skip
deviation = Primitive(
    "deviation", lambda unit, y: unit.standard_deviation(y), r"\sigma({0})", takes=(_V,),
    reads=("eps",),
)  # fmt: skip

variable = Letter("x", "x", _V)
"""The variable of a derivative, where no letter of the paper is one."""

mean = average
grad = named(r"\nabla_y\hat L", gradient(Lhat(y), y))
r""":math:`\nabla_y\hat L`, by differentiation of the network."""
partial = named(r"\frac{\partial\hat L}{\partial y}", grad.body)  # type: ignore[attr-defined]
r"""The same, as :math:`\partial\hat L/\partial y`."""


def variance(x: Expression) -> Expression:
    r"""Return :math:`\sigma(x)^2`, in which there is no epsilon."""
    return named(r"\sigma({0})^2", spread(x), x)


def H(x: Expression) -> Expression:
    r"""Return :math:`Hx`, the loss's own Hessian at the layer's output applied to a vector."""
    return named("H {0:atom}", along(gradient(L(variable), variable), variable, x, at=z), x)


def hessian(x: Expression) -> Expression:
    r"""Return :math:`\frac{\partial^2\hat L}{\partial y^2}x`, by differentiation."""
    latex = r"\frac{{\partial^2\hat L}}{{\partial y^2}} {0:atom}"
    return named(latex, along(gradient(Lhat(variable), variable), variable, x, at=y), x)
