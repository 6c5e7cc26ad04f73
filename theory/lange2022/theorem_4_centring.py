r"""Theorem 4, the centring: :math:`\kappa(\hat H U) \le \kappa(\hat H)`.

With :math:`A = \hat H^\top\hat H`, :math:`U^\top A U` is the block diagonal of N and C, and C is
the Schur complement of N in A: both blocks lie between the extreme eigenvalues of A.  The steps are
proved in :mod:`theory.lange2022.theorem_4_centring_steps`; what is only measured is the variational
principle that leads from quadratic forms to eigenvalues.

That needs full column rank, which the theorem assumes.  The paper's :math:`\kappa` is over the
nonzero singular values, and its experiments have 60 rows and 101 columns; there

.. math:: \kappa(\hat H U) \le \sqrt{1 + \|\mu_0\|^2}\, \kappa(\hat H),

with :math:`\mu_0` the projection of :math:`\mu_H` on the null space of :math:`H - e\mu_H^\top`.  No
smaller factor will do: H = (5/4, 3/4; -5/4, 3/4) has 1 before and 5/4 after.

With other means m than the batch's own, :math:`U_m = U U_{m - \mu_H}`, so that what is lost is at
most :math:`\kappa(U_{m - \mu_H})`.
"""

from theory import preconditioning
from theory.arithmetic.spectra import squared_condition_number
from theory.lange2022.spectral import (
    FULL_COLUMN_RANK,
    after_centring,
    augmented,
    before,
    centred,
    null_part,
)
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def own_means(layer: Layer) -> Sides:
    """Squares of the condition numbers after and before."""
    after = augmented(layer.H) @ preconditioning.centring(preconditioning.means(layer.H))
    return Sides(squared_condition_number(after), before(layer))


def any_rank(layer: Layer) -> Sides:
    """With the factor that the null space costs."""
    lost = null_part(centred(layer.H), layer.H.sum(0) / layer.H.shape[0])
    return Sides(after_centring(layer), (1 + lost @ lost) * before(layer))


def other_means(layer: Layer) -> Sides:
    """With means other than the batch's."""
    return Sides(squared_condition_number(augmented(layer.H - layer.mean)), before(layer))


def other_means_corrected(layer: Layer) -> Sides:
    """With the factor that the other means cost."""
    shear = preconditioning.centring(layer.mean - preconditioning.means(layer.H))
    actual, claimed = other_means(layer)
    return Sides(actual, squared_condition_number(shear) * claimed)


def sheared(layer: Layer) -> Sides:
    """The two centrings as one product."""
    own = augmented(centred(layer.H))
    shear = preconditioning.centring(layer.mean - preconditioning.means(layer.H))
    return Sides(augmented(layer.H - layer.mean), own @ shear)


PRINTED = MatrixClaim(
    id="L-thm-4a",
    row="L-thm-4a",
    locations=(
        *at(199, "Sect. 3.3, Theorem 4", r"has full column rank. We have"),
        *at(
            201,
            "Sect. 3.3, Theorem 4, first display",
            r"\kappa(\widehat{H}U)\leq\kappa(\widehat{H}).",
        ),
        *at(640, "App. A, proof of Theorem 4", "This gives us the desired result that"),
    ),
    statement=r"\kappa(\hat H U)^2 \le \kappa(\hat H)^2",
    sides=own_means,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK,),
    expected=Verdict.SUPPORTED,
    falsified_by="one batch of full column rank whose condition number grows",
)

ANY_RANK = MatrixClaim(
    id="L-thm-4a/any-rank",
    row="L-thm-4a",
    locations=at(35, "Sect. 1, notation", "is the smallest nonzero singular value of"),
    statement=r"\kappa(\hat H U)^2 \le \kappa(\hat H)^2,"
    r"\quad \kappa = \sigma_{\max}/\sigma^*_{\min} \text{ at any rank}",
    sides=own_means,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    corrected_by="L-thm-4a/any-rank/corrected",
    falsified_by="one batch, such as one with fewer examples than features, that gets worse",
    remark="The theorem assumes full column rank; the definition of kappa and the experiment of "
    "sect. 5.1, with 60 examples and 100 features, do not. H = (2, 1; -2, 1): 2 before, 4 after.",
)

OTHER_MEANS = MatrixClaim(
    id="L-thm-4a/running-mean",
    row="L-thm-4a",
    locations=at(242, "Sect. 3.3, after Algorithm 2", "or some averages of them"),
    statement=r"\kappa([e, H - e\mu^\top])^2 \le \kappa(\hat H)^2,"
    r"\quad \mu \text{ a running mean}",
    sides=other_means,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK,),
    expected=Verdict.REFUTED,
    corrected_by="L-thm-4a/running-mean/corrected",
    falsified_by="one batch and means other than its own",
    remark="The text allows running means and claims the theorem for the batch's own only.",
)

CLAIMS = [
    PRINTED,
    ANY_RANK,
    ANY_RANK.corrected(
        statement=r"\kappa(\hat H U)^2 \le (1 + \|\mu_0\|^2)\,\kappa(\hat H)^2,"
        r"\quad \mu_0 = \text{projection of } \mu_H \text{ on the null space of } H - e\mu_H^\top",
        sides=any_rank,
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="Equality at H = (5/4, 3/4; -5/4, 3/4).",
    ),
    OTHER_MEANS,
    OTHER_MEANS.corrected(
        statement=r"\kappa([e, H - e\mu^\top])^2 \le"
        r" \kappa(U_{\mu - \mu_H})^2\,\kappa(\hat H)^2",
        sides=other_means_corrected,
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="",
    ),
    OTHER_MEANS.sharpened(
        "shear",
        statement=r"[e, H - e\mu^\top] = \hat H U\, U_{\mu - \mu_H}",
        sides=sheared,
        relation=Relation.EQUAL,
        hypotheses=(),
        corrected_by=None,
        falsified_by="one batch and means with a different entry",
        remark="",
    ),
]
