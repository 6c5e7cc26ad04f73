"""Mutants that nobody notices, with the reason why none can: they say the same.

The lists are exact: a mutant that survives without being listed, and one that is listed without
surviving, both fail.  Where the values are the same, the abstract arithmetic proves it.
"""

from __future__ import annotations

Key = tuple[str, str, str]
"""A file, a function of it and the change."""

SAME_LENGTH = "all batches of a formula have one length"
CENTRED = "the inner product of a centred vector with another sees only the other's centred part"
ZERO = "zero times one thing is zero times another, where it has the same shape"

SAME_SHAPE = "a gradient and a direction have the shape, the library and the device of the batch"
REST = "NumPy takes any negative length for what is left, and of two axes the last is number one"
SQUARE = "the matrix is square, or all windows are of one shape and as many"
COPY = "a copy has the same numbers"
MORE = "what is computed besides is never asked for"

B, D, LP = "theory/batchnorm.py", "theory/dense.py", "theory/lp_normalization.py"
UNFOLDED, GRAMIAN = "theory/convolution/unfolded.py", "theory/convolution/gramian.py"
MOMENTS, CORRELATIONS = "theory/convolution/moments.py", "theory/convolution/correlations.py"
IN_THE_SQUARE = ("inner(c, c, axis) -> inner(c, y, axis)", "inner(c, c, axis) -> inner(y, c, axis)")
LENGTHS = "size(yhat, axis) -> size(g, axis)", "size(yhat, axis) -> size(u, axis)"

BY_REASON: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {
    SAME_LENGTH: {
        (B, "variance"): ("size(y, axis) -> size(c, axis)",),
        (B, "standardize"): ("size(y, axis) -> size(c, axis)",),
        (B, "_jvp"): ("size(yhat, axis) -> size(u, axis)",),
        (B, "hvp"): ("size(y, axis) -> size(g, axis)", "size(y, axis) -> size(u, axis)"),
        (B, "_curvature"): LENGTHS,
        (D, "project"): ("size(y, axis) -> size(u, axis)", "size(y, axis) -> size(yhat, axis)"),
        (D, "hessian"): ("size(y, axis) -> size(g, axis)",),
        (LP, "jvp"): ("size(y, axis) -> size(u, axis)",),
        (LP, "gradient"): ("size(y, axis) -> size(g, axis)",),
    },
    SAME_SHAPE: {
        (D, "hessian"): (
            "array_namespace(y) -> array_namespace(g)",
            "_identity(y, axis) -> _identity(g, axis)",
            "_per_unit(gamma, y, axis) -> _per_unit(gamma, g, axis)",
            "_per_unit(eps, y, axis) -> _per_unit(eps, g, axis)",
            "_unflatten(columns, y, axis) -> _unflatten(columns, g, axis)",
        ),
    },
    REST: {
        (D, "hessian"): ("-1 -> -2",),
        (D, "_flatten"): ("-1 -> -2",),
        **{(UNFOLDED, name): ("-1 -> -2",) for name in ("unfold", "unflatten", "_flat")},
        (UNFOLDED, "_examples_inside"): ("-1 -> -2",),
        (GRAMIAN, "gram"): ("-1 -> -2",),
        (MOMENTS, "_by_entry"): ("-1 -> 1", "-1 -> -2 #2"),
    },
    SQUARE: {
        (MOMENTS, "column_variances"): ("strict=True -> strict=False",),
        (MOMENTS, "_by_entry"): ("stacked[0] -> stacked[1]",),
        (CORRELATIONS, "_pair_of_columns"): ("self.shifts[0].shape[0] -> self.shifts[0].shape[1]",),
    },
    COPY: {
        (UNFOLDED, "apply_transposed"): ("copy=False -> copy=True",),
        (MOMENTS, "_sum"): ("copy=False -> copy=True",),
        (MOMENTS, "column_sums"): ("copy=False -> copy=True",),
    },
    MORE: {
        (CORRELATIONS, "_rows_needed"): ("K - d -> K", "r - K -> -K"),
        (CORRELATIONS, "of"): ("2 * K -> 3 * K #2",),
    },
    CENTRED: {
        **{(B, name): IN_THE_SQUARE for name in ("variance", "standardize")},
        (B, "hvp"): (
            *IN_THE_SQUARE,
            "inner(c, ubar, axis) -> inner(y, ubar, axis)",
            "inner(c, gbar, axis) -> inner(y, gbar, axis)",
            "g - mean_g -> g + mean_g",
            "g - mean_g -> g",
        ),
        (LP, "gradient"): ("centre(y, axis) -> y",),
    },
    ZERO: {("theory/claim.py", "letters_of"): ("0 * yhat -> 0 * y",)},
}
EQUIVALENT: dict[Key, str] = {
    (*place, change): reason
    for reason, places in BY_REASON.items()
    for place, changes in places.items()
    for change in changes
}
PROVABLE = [key for key in EQUIVALENT if key[1] != "letters_of"]
"""Those whose values the abstract arithmetic can compare."""


def survivors_of(file: str, function: str) -> set[Key]:
    """Return the mutants of a function that survive."""
    return {key for key in EQUIVALENT if key[:2] == (file, function)}
