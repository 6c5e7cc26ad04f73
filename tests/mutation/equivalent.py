"""Mutants that nobody notices, with the reason why none can: they say the same.

The lists are exact: a mutant that survives without being listed, and one that is listed without
surviving, both fail.  Where the values are the same, the abstract arithmetic proves it.
"""

from __future__ import annotations

from equivalent_version_1 import VERSION_1
from equivalent_weight_space import WEIGHT_SPACE
from reasons import ADDED_NUMBER, CENTRED, CHOICE, SAME_LENGTH, VANISHES, ZERO, Places

Key = tuple[str, str, str]
"""A file, a function of it and the change."""

S = "theory/santurkar2018"

BY_REASON: dict[str, Places] = {
    SAME_LENGTH: {
        ("theory/batchnorm.py", "variance"): ("size(y, axis) -> size(c, axis)",),
        ("theory/batchnorm.py", "standardize"): ("size(y, axis) -> size(c, axis)",),
        ("theory/batchnorm.py", "_jvp"): ("size(yhat, axis) -> size(u, axis)",),
        ("theory/batchnorm.py", "hvp"): (
            "size(y, axis) -> size(g, axis)",
            "size(y, axis) -> size(u, axis)",
        ),
        ("theory/batchnorm.py", "_curvature"): (
            "size(yhat, axis) -> size(g, axis)",
            "size(yhat, axis) -> size(u, axis)",
        ),
    },
    CENTRED: {
        ("theory/batchnorm.py", "variance"): (
            "inner(c, c, axis) -> inner(c, y, axis)",
            "inner(c, c, axis) -> inner(y, c, axis)",
        ),
        ("theory/batchnorm.py", "standardize"): (
            "inner(c, c, axis) -> inner(c, y, axis)",
            "inner(c, c, axis) -> inner(y, c, axis)",
        ),
        ("theory/batchnorm.py", "hvp"): (
            "inner(c, c, axis) -> inner(c, y, axis)",
            "inner(c, c, axis) -> inner(y, c, axis)",
        ),
        (f"{S}/theorem_4_2.py", "with_epsilon"): ("centre(at.g) -> at.g",),
    },
    ADDED_NUMBER: {
        (f"{S}/fact_c1.py", "sides"): ("inner(at.one, g) * at.one -> inner(at.one, g)",),
        (f"{S}/hessian.py", "project"): ("at.one * inner(at.one, u) -> inner(at.one, u)",),
        (f"{S}/hessian.py", "sides"): ("at.one * inner(at.one, u) -> inner(at.one, u)",),
        (f"{S}/hessian_terms.py", "jacobian"): ("at.one * inner(at.one, u) -> inner(at.one, u)",),
        (f"{S}/hessian_terms.py", "mean_of_gradient"): (
            "0 * z + mean(g) -> mean(g)",
            "0 * z -> 0",
            "at.one * inner(at.one, at.H(u)) -> inner(at.one, at.H(u))",
        ),
        (f"{S}/projection_identities.py", "line_43"): ("at.one * mean(at.g) -> mean(at.g)",),
        (f"{S}/proof_4_1.py", "line_4"): ("at.one * inner(at.one, at.g) -> inner(at.one, at.g)",),
    },
    ZERO: {
        ("theory/claim.py", "letters_of"): ("0 * yhat -> 0 * y",),
        (f"{S}/discussion_4_2.py", "sides"): (
            "inner(at.yhat, at.g) -> inner(at.g, at.g) #2",
            "inner(at.yhat, at.g) -> inner(at.one, at.g) #2",
            "inner(at.yhat, at.g) -> inner(at.yhat, at.one) #2",
            "inner(at.yhat, at.g) -> inner(at.yhat, at.yhat) #2",
        ),
        (f"{S}/discussion_4_2.py", "bowl_at_beta"): (
            "0 * case.y -> 0 * case.direction",
            "0 * case.y -> 0 * case.other_direction",
        ),
        (f"{S}/hessian_terms.py", "mean_of_gradient"): ("0 * z -> 0 * g", "0 * z -> 0 * u"),
        (f"{S}/projection_identities.py", "line_43"): (
            "0 * at.one -> 0 * at.g",
            "0 * at.one -> 0 * at.yhat",
        ),
        (f"{S}/projection_identities.py", "line_45"): (
            "0 * at.yhat -> 0 * at.g",
            "0 * at.yhat -> 0 * at.one",
        ),
    },
    VANISHES: {
        (f"{S}/projection_identities.py", "line_43"): (
            "at.one * inner(at.one, centred) -> inner(at.one, centred)",
            "at.one * inner(at.one, centred) -> at.g * inner(at.one, centred)",
            "at.one * inner(at.one, centred) -> at.yhat * inner(at.one, centred)",
        ),
        (f"{S}/projection_identities.py", "line_46"): (
            "off - at.one * inner(at.one, off) / at.m -> off",
            "off - at.one * inner(at.one, off) / at.m -> off + at.one * inner(at.one, off) / at.m",
            "at.one * inner(at.one, off) / at.m -> at.one * inner(at.one, off)",
            "at.one * inner(at.one, off) / at.m -> at.one * inner(at.one, off) * at.m",
            "at.one * inner(at.one, off) / at.m -> at.one * inner(at.one, off) / (at.m - 1)",
            "at.one * inner(at.one, off) / at.m -> at.one * inner(at.one, off) / sqrt(at.m)",
            "at.one * inner(at.one, off) -> inner(at.one, off)",
            "at.one * inner(at.one, off) -> at.g * inner(at.one, off)",
            "at.one * inner(at.one, off) -> at.yhat * inner(at.one, off)",
        ),
    },
    CHOICE: {
        (f"{S}/discussion_4_2.py", "bowl_at_direction"): (
            "case.with_isotropic_loss(-1 * case.direction, 1)"
            " -> case.with_isotropic_loss(-1 * case.direction, 2)",
        ),
        (f"{S}/discussion_4_2.py", "bowl_at_beta"): (
            "0 * case.y - case.beta -> 0 * case.y + case.beta",
            "0 * case.y - case.beta -> 0 * case.y",
            "0 * case.y -> case.y",
            "0 * case.y -> 1 * case.y",
            "0 * case.y - case.beta -> 0 * case.y - case.bound",
            "0 * case.y - case.beta -> 0 * case.y - case.eps",
            "0 * case.y - case.beta -> 0 * case.y - case.gamma",
            "case.with_isotropic_loss(0 * case.y - case.beta, 1)"
            " -> case.with_isotropic_loss(0 * case.y - case.beta, 2)",
        ),
        (f"{S}/discussion_4_2.py", "positive_gamma"): (
            "1 + case.gamma ** 2 -> 1",
            "1 + case.gamma ** 2 -> 2 + case.gamma ** 2",
            "case.gamma ** 2 -> case.beta ** 2",
            "case.gamma ** 2 -> case.eps ** 2",
        ),
        (f"{S}/theorem_4_2_relative_norms.py", "isotropic"): (
            "case.with_isotropic_loss(case.direction, (case.bound - 1) ** 2)"
            " -> case.with_isotropic_loss(case.other_direction, (case.bound - 1) ** 2)",
            "(case.bound - 1) ** 2 -> case.bound - 1",
            "case.bound - 1 -> case.bound",
            "case.bound - 1 -> case.bound - 2",
            "case.bound - 1 -> -1",
            "case.bound - 1 -> case.eps - 1",
            "case.bound - 1 -> case.gamma - 1",
        ),
        (f"{S}/theorem_4_2_relative_norms.py", "contracting"): (
            "1 + v -> 2 + v",
            "batchnorm.variance(case.y) + case.eps -> batchnorm.variance(case.y)",
        ),
    },
}
EQUIVALENT: dict[Key, str] = {
    (*place, change): reason
    for reason, places in (*BY_REASON.items(), *WEIGHT_SPACE.items(), *VERSION_1.items())
    for place, changes in places.items()
    for change in changes
}
PROVABLE = [
    key
    for key, reason in EQUIVALENT.items()
    if reason != CHOICE and key[1] not in ("bowl_at_beta", "letters_of", "bound_17")
]
"""Those whose values the abstract arithmetic can compare: no special loss, no root in a root."""


def survivors_of(file: str, function: str) -> set[Key]:
    """Return the mutants of a function that survive."""
    return {key for key in EQUIVALENT if key[:2] == (file, function)}
