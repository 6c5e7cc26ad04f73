r"""Known results on normalization, as statements of this suite.

Letters are the language's, not the papers': the batch in front of the layer is y, what the layer
gives is :math:`z = \gamma\hat y + \beta\mathbf 1`, the loss's gradient there is g.  A quote is
verbatim; where there is none, the place says in our words what is spoken of.
"""

from theory import descent, layer
from theory.claim import Claim, Form, Paper, Reading, Verdict
from theory.language import arrays
from theory.language.expression import (
    Expression,
    Letter,
    Sort,
    along,
    equal,
    gradient,
    named,
    number,
)
from theory.language.letters import free, number_of, vector_of
from theory.language.operations import absolute, dot, norm2, sqrt
from theory.layer import H, W, b, largest_entry, outputs, smallest_entry, squares
from theory.matrix_claim import Kind, MatrixClaim
from theory.unit import (
    BN,
    L,
    beta,
    deviation,
    eps,
    g,
    gamma,
    grad,
    m,
    mean,
    normalize,
    one,
    sigma,
    u,
    variable,
    variance,
    y,
    yhat,
)

# ---- Ioffe and Szegedy 2015: the layer's gradients, and the scale of its weights ----

IOFFE = Paper(
    "ioffe2015",
    "Ioffe and Szegedy 2015",
    "S. Ioffe and C. Szegedy, *Batch Normalization: Accelerating Deep Network Training by Reducing "
    "Internal Covariate Shift*, 2015",
)
BACKWARD = IOFFE.at("Sect. 3", "We use chain rule, as follows (before simplification)")
WITH_EPSILON = Reading.SHARED_EPSILON
"""As in the paper's Algorithm 1."""

c = y - mean(y) * one
v = Letter("v", "v")
t = Letter("t", "t")
of_variance = L(gamma * c / sqrt(v + eps) + beta * one)
of_mean = L(gamma * (y - t * one) / sqrt(norm2(y - t * one) / m + eps) + beta * one)
"""The variance is that around t."""
printed_by_variance = dot(gamma * g, c) * (-1 / (2 * sigma**3))
printed_by_mean = -dot(gamma * g, one) / sigma + printed_by_variance * dot(-2 * c, one) / m

BY_VARIANCE = Claim(
    id="ioffe2015-by-variance",
    title="The loss's derivative by the variance",
    locations=(BACKWARD,),
    says=equal(along(of_variance, v, number(1), at=variance(y)), printed_by_variance),
    reading=WITH_EPSILON,
    expected=Verdict.PROVED,
)
BY_MEAN = Claim(
    id="ioffe2015-by-mean",
    title="The loss's derivative by the mean",
    locations=(BACKWARD,),
    says=equal(along(of_mean, t, number(1), at=mean(y)), printed_by_mean),
    reading=WITH_EPSILON,
    expected=Verdict.PROVED,
)
BY_BATCH = Claim(
    id="ioffe2015-by-batch",
    title="The loss's gradient in the batch",
    locations=(BACKWARD,),
    says=equal(
        grad,
        gamma * g / sigma + printed_by_variance * 2 * c / m + printed_by_mean / m * one,
    ),
    reading=WITH_EPSILON,
    expected=Verdict.PROVED,
)
SIMPLIFIED = BY_BATCH.sharpened(
    "simplified",
    title="The same, simplified",
    says=equal(grad, gamma / sigma * (g - dot(one, g) / m * one - dot(g, yhat) / m * yhat)),
)
BIAS = MatrixClaim(
    id="ioffe2015-bias",
    title="A bias in front of the layer does nothing",
    subject=Kind.LAYER,
    locations=(
        IOFFE.at(
            "Sect. 3.2",
            "the bias b can be ignored since its effect will be canceled by the subsequent mean"
            " subtraction",
        ),
    ),
    says=equal(
        layer.B01_eps(outputs(W, b), layer.eps), layer.B01_eps(H @ arrays.transpose(W), layer.eps)
    ),
    expected=Verdict.PROVED,
)

a = number_of("a", "a", "gamma")
positive = number_of("a", "a", "bound", "a > 0")


def jacobian(point: Expression) -> Expression:
    """Return the layer's derivative at a point, along u."""
    return named(r"J({0})\, u", along(BN(variable), variable, u, at=point), point)


SCALE = Claim(
    id="ioffe2015-scale",
    title="Weights times a number give the same output",
    locations=(IOFFE.at("Sect. 3.3", "Indeed, for a scalar a"),),
    says=equal(normalize(a * y), normalize(y)),
    expected=Verdict.REFUTED,
    remark="Right for the positive factors that a scale suggests; and so the equations below it.",
)
SIGNED = SCALE.corrected(
    title="The same with the factor's sign", says=equal(normalize(a * y), a / absolute(a) * yhat)
)
JACOBIAN = SCALE.corrected(
    "jacobian",
    title="The derivative in what the weights are applied to, for a > 0",
    locations=(IOFFE.at("Sect. 3.3", "The scale does not affect the layer Jacobian"),),
    says=equal(along(BN(positive * variable), variable, u, at=y), jacobian(y)),
)
WEIGHTS = SCALE.corrected(
    "weights",
    title="Larger weights lead to smaller gradients, for a > 0",
    locations=(IOFFE.at("Sect. 3.3", "larger weights lead to smaller gradients"),),
    says=equal(jacobian(positive * y), 1 / positive * jacobian(y)),
)
SCALE_WITH_EPSILON = Claim(
    id="ioffe2015-scale/eps",
    title="Weights times a positive number, with epsilon",
    locations=SCALE.locations,
    says=equal(BN(positive * y), BN(y)),
    reading=WITH_EPSILON,
    form=Form.READING,
    expected=Verdict.REFUTED,
)
outputs_without_bias = H @ arrays.transpose(W)
OF_LAYER = MatrixClaim(
    id="ioffe2015-scale/layer",
    title="The weights of a whole layer times a positive number",
    subject=Kind.LAYER,
    locations=SCALE.locations,
    says=equal(layer.B01(layer.alpha * outputs_without_bias), layer.B01(outputs_without_bias)),
    form=Form.READING,
    expected=Verdict.PROVED,
)
EPSILON_SCALED = SCALE_WITH_EPSILON.corrected(
    title="It is epsilon that is scaled",
    says=equal(BN(positive * y), gamma * c / sqrt(variance(y) + eps / positive**2) + beta * one),
)

# ---- Salimans and Kingma 2016: weight normalization, w = g v / |v| ----

SALIMANS = Paper(
    "salimans2016",
    "Salimans and Kingma 2016",
    "T. Salimans and D. P. Kingma, *Weight Normalization: A Simple Reparameterization to "
    "Accelerate Training of Deep Neural Networks*, 2016",
)
PROJECTED = SALIMANS.at("Sect. 2", "it projects the gradient away from the current weight vector")
gain = number_of("g", "g", free(0))
direction = vector_of("v", "v", "theta")
p = Letter("p", "p", Sort.VECTOR)
length = arrays.norm(direction)
reparametrized = gain / length * direction
by_weights = named(r"\nabla_w L", gradient(descent.L(p), p, at=reparametrized))
by_gain = named(r"\nabla_g L", along(descent.L(reparametrized), gain, number(1)))
by_direction = named(r"\nabla_v L", gradient(descent.L(reparametrized), direction))

GAIN = MatrixClaim(
    id="salimans2016-gain",
    title="Weight normalization: the gradient in the gain",
    subject=Kind.DESCENT,
    locations=(SALIMANS.at("Sect. 2, eq. (3)"),),
    says=equal(by_gain, arrays.dot(by_weights, direction) / length),
    expected=Verdict.PROVED,
)
DIRECTION = MatrixClaim(
    id="salimans2016-direction",
    title="Weight normalization: the gradient in the direction",
    subject=Kind.DESCENT,
    locations=(SALIMANS.at("Sect. 2, eq. (3)"), PROJECTED),
    says=equal(by_direction, gain / length * by_weights - gain * by_gain / length**2 * direction),
    expected=Verdict.PROVED,
)

# ---- van Laarhoven 2017 and Hoffer et al. 2018: the effective learning rate ----

LAARHOVEN = Paper(
    "vanlaarhoven2017",
    "van Laarhoven 2017",
    "T. van Laarhoven, *L2 Regularization versus Batch and Weight Normalization*, 2017",
)
HOFFER = Paper(
    "hoffer2018",
    "Hoffer et al. 2018",
    "E. Hoffer, R. Banner, I. Golan and D. Soudry, *Norm matters: efficient and accurate "
    "normalization schemes in deep networks*, 2018",
)
w = vector_of("w", "w", "theta")
alpha = descent.alpha
eta = number_of("eta", r"\eta", free(0))
decay = number_of("lambda", r"\lambda", free(0))
other = vector_of("v", "v", lambda case: case.P[0, :], r"v \ne 0")


def F(point: Expression) -> Expression:
    """Return a loss that does not change when the weights are multiplied by a positive number."""
    return named("F({0})", descent.L(point / arrays.norm(point)), point)


def slope(point: Expression) -> Expression:
    """Return its gradient."""
    return named(r"\nabla F({0})", gradient(F(p), p, at=point), point)


def curved(point: Expression) -> Expression:
    """Return its Hessian times v."""
    return named(r"\nabla^2 F({0})\, v", along(gradient(F(p), p), p, other, at=point), point)


PENALTY = MatrixClaim(
    id="vanlaarhoven2017-penalty",
    title="Multiples of the weights change the L2 penalty alone",
    subject=Kind.DESCENT,
    locations=(LAARHOVEN.at("on L2 regularization and scale"),),
    says=equal(
        F(alpha * w) + decay * arrays.norm2(alpha * w),
        F(w) + decay * alpha**2 * arrays.norm2(w),
    ),
    expected=Verdict.PROVED,
)
GRADIENT = MatrixClaim(
    id="vanlaarhoven2017-gradient",
    title="The gradient at a multiple of the weights",
    subject=Kind.DESCENT,
    locations=(LAARHOVEN.at("on the effective learning rate"),),
    says=equal(slope(alpha * w), 1 / alpha * slope(w)),
    expected=Verdict.PROVED,
)
CURVATURE = GRADIENT.sharpened(
    "hessian",
    title="The Hessian at a multiple of the weights",
    says=equal(curved(alpha * w), 1 / alpha**2 * curved(w)),
)
RATE = MatrixClaim(
    id="vanlaarhoven2017-rate",
    title="A step at a multiple of the weights is one with another learning rate",
    subject=Kind.DESCENT,
    locations=(LAARHOVEN.at("on the effective learning rate"),),
    says=equal(
        alpha * w - eta * slope(alpha * w),
        alpha * (w - eta / alpha**2 * slope(w)),
    ),
    form=Form.READING,
    expected=Verdict.PROVED,
)
unit_weights = w / arrays.norm(w)
NORM = MatrixClaim(
    id="hoffer2018-norm",
    title="The norm of the weights after a step, by the gradient at unit norm",
    subject=Kind.DESCENT,
    locations=(HOFFER.at("on the consequences of scale invariance"),),
    says=equal(
        arrays.norm2(w - eta * slope(w)),
        arrays.norm2(w)
        - 2 * eta * arrays.dot(unit_weights, slope(unit_weights))
        + eta**2 / arrays.norm2(w) * arrays.norm2(slope(unit_weights)),
    ),
    expected=Verdict.PROVED,
)

# ---- Arora, Li and Lyu 2019: weights in front of Batch Normalization ----

ARORA = Paper(
    "arora2019",
    "Arora et al. 2019",
    "S. Arora, Z. Li and K. Lyu, *Theoretical Analysis of Auto Rate-Tuning by Batch "
    "Normalization*, 2019",
)
row = vector_of("w", "w", lambda case: case.W[0, :], "w = W_1")
ROW = "w is the weights of one output"


def normalized(a: Expression) -> Expression:
    """Return one output of every example, normalized over the batch."""
    centred = a - layer.total(a) / layer.N * layer.e
    return centred / sqrt(arrays.norm2(centred) / layer.N)


by_row = named(r"\nabla_w\mathcal L", gradient(layer.L1(normalized(H @ p)), p, at=row))

ORTHOGONAL = MatrixClaim(
    id="arora2019-orthogonal",
    title="The gradient is orthogonal to the weights",
    subject=Kind.LAYER,
    locations=(ARORA.at("on scale-invariant weights"),),
    says=equal(layer.dot(row, by_row), 0),
    in_words=ROW,
    form=Form.READING,
    expected=Verdict.PROVED,
)
GROWTH = MatrixClaim(
    id="arora2019-growth",
    title="The norm of the weights grows with every step",
    subject=Kind.LAYER,
    locations=(ARORA.at("on scale-invariant weights"),),
    says=equal(
        arrays.norm2(row - layer.alpha * by_row),
        arrays.norm2(row) + layer.alpha**2 * arrays.norm2(by_row),
    ),
    in_words=ROW,
    form=Form.READING,
    expected=Verdict.PROVED,
)

# ---- Xu et al. 2019: what the derivatives of the mean and of the deviation do ----

XU = Paper(
    "xu2019",
    "Xu et al. 2019",
    "J. Xu, X. Sun, Z. Zhang, G. Zhao and J. Lin, *Understanding and Improving Layer "
    "Normalization*, 2019",
)
THEOREM_1 = XU.at("Theorem 1")


def in_batch(x: Expression) -> Expression:
    """Return the gradient in y of what is normalized so; what is of y itself is detached."""
    return gradient(L(gamma * x + beta * one), variable, at=y)


slopes = gamma * g
"""The gradient at the normalized vector; of Layer Normalization without a gain, gamma is 1."""
x = variable
attached = in_batch((x - mean(x) * one) / deviation(x))
without_mean = in_batch((x - mean(y) * one) / deviation(x))
without_deviation = in_batch((x - mean(x) * one) / deviation(y))

RECENTRED = Claim(
    id="xu2019-mean",
    title="Layer Normalization: the gradient has mean zero",
    locations=(THEOREM_1,),
    says=equal(mean(attached), 0),
    expected=Verdict.PROVED,
)
RESCALED = Claim(
    id="xu2019-variance",
    title="Layer Normalization: the gradient's variance is at most that of g over sigma squared",
    locations=(THEOREM_1,),
    says=variance(attached) <= variance(slopes) / sigma**2,
    because=dot(slopes, yhat) ** 2 / (m**2 * sigma**2),
    expected=Verdict.PROVED,
)
DETACHED_MEAN = Claim(
    id="xu2019-detached-mean",
    title="The mean detached: the gradient's mean is that of g over sigma",
    locations=(THEOREM_1,),
    says=equal(mean(without_mean), mean(slopes) / sigma),
    expected=Verdict.PROVED,
)
DETACHED_DEVIATION = Claim(
    id="xu2019-detached-deviation",
    title="The deviation detached: the gradient's variance is that of g over sigma squared",
    locations=(THEOREM_1,),
    says=equal(variance(without_deviation), variance(slopes) / sigma**2),
    expected=Verdict.PROVED,
)

# ---- How large an entry, and how large the range, of a normalized batch may be ----

SAMUELSON = Paper(
    "samuelson1968", "Samuelson 1968", "P. A. Samuelson, *How Deviant Can You Be?*, 1968"
)
NAGY = Paper(
    "nagy1918",
    "von Szokefalvi Nagy 1918",
    "J. von Szokefalvi Nagy, *Über algebraische Gleichungen mit lauter reellen Wurzeln*, 1918",
)
BHATIA = Paper(
    "bhatia2000",
    "Bhatia and Davis 2000",
    "R. Bhatia and C. Davis, *A Better Bound on the Variance*, 2000",
)
top, bottom = largest_entry(y), smallest_entry(y)

DEVIANT = Claim(
    id="samuelson1968",
    title="A normalized entry is at most the root of m - 1 in size",
    locations=(SAMUELSON.at("the inequality"),),
    says=largest_entry(squares(yhat)) <= m - 1,
    expected=Verdict.SUPPORTED,
    remark="Single entries have no proof for every m; along a vector u, here the k-th unit vector, "
    "there is one.",
)
ALONG = DEVIANT.sharpened(
    "along",
    title="The same along any vector u",
    says=dot(u, yhat) ** 2 <= m * norm2(u) - dot(one, u) ** 2,
    because=m * norm2(u - mean(u) * one - dot(u, yhat) / m * yhat),
)
RANGE = Claim(
    id="nagy1918",
    title="The variance is at least the squared range over 2m",
    locations=(NAGY.at("the inequality"),),
    says=variance(y) >= (top - bottom) ** 2 / (2 * m),
    expected=Verdict.SUPPORTED,
    remark="Proved along u, which is 1 at the largest entry and -1 at the smallest.",
)
BOUNDED = Claim(
    id="bhatia2000",
    title="The variance is at most (max - mean)(mean - min)",
    locations=(BHATIA.at("the inequality"),),
    says=variance(y) <= (top - mean(y)) * (mean(y) - bottom),
    expected=Verdict.SUPPORTED,
)

CLAIMS = [
    *(BY_VARIANCE, BY_MEAN, BY_BATCH, SIMPLIFIED, BIAS),
    *(SCALE, SIGNED, JACOBIAN, WEIGHTS, OF_LAYER, SCALE_WITH_EPSILON, EPSILON_SCALED),
    *(GAIN, DIRECTION),
    *(PENALTY, GRADIENT, CURVATURE, RATE, NORM),
    *(ORTHOGONAL, GROWTH),
    *(RECENTRED, RESCALED, DETACHED_MEAN, DETACHED_DEVIATION),
    *(DEVIANT, ALONG, RANGE, BOUNDED),
]
