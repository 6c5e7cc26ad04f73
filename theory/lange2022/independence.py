r"""Before Proposition 5: the independence of the features, and of the entries of G.

"If the input has independent components and the weights and biases are all independent, then the
components of h are also independent": neither for random weights, because both components see the
same input, nor for given weights, whose components share every input.  Here with linear units, and
by the covariance, which independence makes zero:

- random weights, equally likely q and alpha, and an input that is equally likely every example's:
  independent given the input, and :math:`\operatorname{cov}(h_1, h_2) = \mathbb{E}[w]^2
  \operatorname{var}(x)` otherwise;
- given weights v and w of two independent inputs: :math:`\sum_k v_k w_k\operatorname{var}(x_k)`.

Nor are the entries of the normalized G: a column's sum is zero, so that two different entries of it
have the mean product -1/(N - 1).  The hypothesis of Proposition 5, that the entries of the
*normalized* matrix are independent with variance one, is met by no G of (13).
"""

from typing import Any

from theory.lange2022.norm_of_normalized import features
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def average(values: Any) -> Any:
    """The expectation over the examples."""
    return values.sum() / values.shape[0]


def random_weights(layer: Layer) -> list[tuple[Any, Any]]:
    """The four equally likely pairs of weights."""
    return [(v, w) for v in (layer.q, layer.step) for w in (layer.q, layer.step)]


def over_inputs(layer: Layer) -> Sides:
    """The expectation of the product, and the product of the expectations."""
    x, pairs = layer.H[:, 0], random_weights(layer)
    product = sum(average((v * x) * (w * x)) for v, w in pairs) / 4
    first = sum(average(v * x) for v, _ in pairs) / 4
    second = sum(average(w * x) for _, w in pairs) / 4
    return Sides(product, first * second)


def given_the_input(layer: Layer) -> Sides:
    """The same for every single input."""
    x, pairs = layer.H[:, 0], random_weights(layer)
    product = sum((v * x) * (w * x) for v, w in pairs) / 4
    return Sides(product, sum(v * x for v, _ in pairs) * sum(w * x for _, w in pairs) / 16)


def given_weights(layer: Layer) -> tuple[Any, Any, Any, Any]:
    """Both components for every pair of independent inputs, and the two inputs."""
    x, y = layer.H[:, 0], layer.H[:, -1]
    first = (layer.W[0, 0] * x)[:, None] + layer.W[0, -1] * y
    second = (layer.gamma[0] * x)[:, None] + layer.gamma[-1] * y
    return first, second, x, y


def covariance(layer: Layer) -> Any:
    """The covariance of the two components."""
    first, second, *_ = given_weights(layer)
    count = first.shape[0] * first.shape[1]
    return (first * second).sum() / count - (first.sum() / count) * (second.sum() / count)


def for_given_weights(layer: Layer) -> Sides:
    """The covariance, and zero."""
    found = covariance(layer)
    return Sides(found, 0 * found)


def for_given_weights_corrected(layer: Layer) -> Sides:
    """The covariance, and the sum over the inputs."""
    *_, x, y = given_weights(layer)
    of_x, of_y = (average(v * v) - average(v) ** 2 for v in (x, y))
    shared = layer.W[0, 0] * layer.gamma[0] * of_x + layer.W[0, -1] * layer.gamma[-1] * of_y
    return Sides(covariance(layer), shared)


def mean_product(layer: Layer) -> Any:
    """The mean product of two different entries of a column of G."""
    g = features(layer)[:, 0]
    N = g.shape[0]
    if N == 1:
        raise ZeroDivisionError("one example has no pairs")
    return ((g[:, None] * g).sum() - (g * g).sum()) / N / (N - 1)


def entries(layer: Layer) -> Sides:
    """The mean product, and zero."""
    found = mean_product(layer)
    return Sides(found, 0 * found)


def entries_corrected(layer: Layer) -> Sides:
    """The mean product, and what the zero sum leaves."""
    found = mean_product(layer)
    return Sides(found, (0 * found - 1) / (layer.H.shape[0] - 1))


COMPONENTS = MatrixClaim(
    id="L-norm-Ghat/independent",
    row="L-norm-Ghat",
    locations=at(219, "Sect. 3.3, before Prop. 5", "then the components of"),
    statement=r"\mathbb{E}\,h_1 h_2 = \mathbb{E}\,h_1\;\mathbb{E}\,h_2,"
    r"\quad h_i = w_i x,\ w_1, w_2, x \text{ independent}",
    sides=over_inputs,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    corrected_by="L-norm-Ghat/independent/corrected",
    falsified_by="two weights and an input of which the components' covariance is not zero",
    remark="The reading with random weights.",
)

GIVEN = MatrixClaim(
    id="L-norm-Ghat/independent-given-weights",
    row="L-norm-Ghat",
    locations=COMPONENTS.locations,
    statement=r"\operatorname{cov}(h_1, h_2) = 0,"
    r"\quad h_1 = v_1 x_1 + v_2 x_2,\ h_2 = w_1 x_1 + w_2 x_2,\ x_1, x_2 \text{ independent}",
    sides=for_given_weights,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    corrected_by="L-norm-Ghat/independent-given-weights/corrected",
    falsified_by="weights and independent inputs with a covariance",
    remark="The reading with the weights that the network has, and random inputs.",
)

ENTRIES = MatrixClaim(
    id="L-prop-5/independent-entries",
    row="L-prop-5",
    locations=(
        *at(223, "Sect. 3.3, Prop. 5", "iid random variables"),
        *at(656, "App. A, Prop. 5", "iid random variables"),
    ),
    statement=r"\frac1{N(N - 1)}\sum_{i \ne k} g_{ij} g_{kj} = 0",
    sides=entries,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    corrected_by="L-prop-5/independent-entries/corrected",
    falsified_by="one batch; the sum is the same for every one",
    remark="Independent entries of mean zero would have it as their expectation; the normalized "
    "entries of the proposition, whatever the batch is, have another value.",
)

CLAIMS = [
    COMPONENTS,
    COMPONENTS.corrected(
        statement=r"\mathbb{E}[h_1 h_2 \mid x] = \mathbb{E}[h_1 \mid x]\,\mathbb{E}[h_2 \mid x]",
        sides=given_the_input,
        corrected_by=None,
        falsified_by="one input",
        remark="",
    ),
    GIVEN,
    GIVEN.corrected(
        statement=r"\operatorname{cov}(h_1, h_2) = \textstyle\sum_k v_k w_k\operatorname{var}(x_k)",
        sides=for_given_weights_corrected,
        corrected_by=None,
        falsified_by="weights and independent inputs with another covariance",
        remark="",
    ),
    ENTRIES,
    ENTRIES.corrected(
        statement=r"\frac1{N(N - 1)}\sum_{i \ne k} g_{ij} g_{kj} = -\frac1{N - 1}",
        sides=entries_corrected,
        corrected_by=None,
        remark="",
    ),
]
