"""A statement of each kind: copy this file, keep the kind that you need, write your own."""

from theory import descent, layer, maps, unit
from theory.claim import Claim, Paper, Verdict
from theory.expectation_claim import ExpectationClaim, mean
from theory.language.expression import equal
from theory.language.operations import dot
from theory.matrix_claim import Kind, MatrixClaim
from theory.random_matrix import G, N, n
from theory.statement import Sides

PAPER = Paper("notes", "My notes", "A. Reader, *Notes on normalization*, 2026")

OF_A_BATCH = Claim(
    id="notes-mean-zero",
    title="The gradient in front of the layer is centred",
    locations=(PAPER.at("Sect. 1", "the gradient is centred"),),
    says=equal(dot(unit.one, unit.grad), 0),
    expected=Verdict.PROVED,
)
OF_A_LAYER = MatrixClaim(
    id="notes-centred",
    title="Inputs less their means have mean zero",
    subject=Kind.LAYER,
    locations=(PAPER.at("Sect. 2"),),
    says=equal(layer.mean(layer.H - layer.outer(layer.e, layer.means)), layer.zeros),
    expected=Verdict.PROVED,
)
OF_MAPS = MatrixClaim(
    id="notes-product",
    title="A convolution is a product of matrices",
    subject=Kind.MAPS,
    locations=(PAPER.at("Sect. 3"),),
    says=equal(
        maps.vec(maps.Conv(maps.h, maps.w, maps.b)),
        maps.Hhat @ maps.stacked(maps.w, maps.b),
    ),
    expected=Verdict.PROVED,
)
OF_A_DESCENT = MatrixClaim(
    id="notes-downhill",
    title="A step along the gradient never increases the loss",
    subject=Kind.DESCENT,
    locations=(PAPER.at("Sect. 4"),),
    says=descent.L(descent.theta - descent.alpha * descent.slope(descent.theta))
    <= descent.L(descent.theta),
    expected=Verdict.REFUTED,
)
OF_A_RANDOM_MATRIX = ExpectationClaim(
    id="notes-squares",
    title="The expected sum of squares",
    locations=(PAPER.at("Sect. 5"),),
    says=mean(layer.frobenius2(G)) / (N * n) <= 2,
    ceilings=lambda entries: Sides(
        entries.N * entries.n * entries.largest**2, entries.N * entries.n
    ),
    expected=Verdict.SUPPORTED,
)

CLAIMS = [OF_A_BATCH, OF_A_LAYER, OF_MAPS, OF_A_DESCENT, OF_A_RANDOM_MATRIX]
