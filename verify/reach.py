"""How far the provers reach: of which of the papers' statements each proof is at named sizes.

Any other that is proved is proved for every batch size.  One prover that fell silent would leave a
narrower proof of another, and the verdict as it was; the list tells.  Coq's kernel is not asked
here: it proves some of these for every size besides.
"""

from __future__ import annotations

from verify.ledger import Entry

AT_NAMED_SIZES = frozenset([
    "S-remark-growth/last-term/two-examples", "S-remark-growth/last-term/two-examples-hessian",
    "L-alg-1/renormalization-gradients/corrected",
    "L-alg-1/renormalization-gradients/two-examples", "L-eq-5-6/5/any-loss",
    "L-eq-5-6/5/average-hessian", "L-eq-5-6/5/goes-away", "L-def-minimiser/corrected",
    "L-def-minimiser/growth", "L-eq-5-6/needs/product", "L-eq-5-6/6", "L-eq-5-6/6/lower-bound",
    "L-eq-5-6/rate", "L-eq-5-6/rate-fast", "L-eq-7-8", "L-eq-7-8/hessian", "L-eq-7-8/eq-8",
    "L-eq-7-8/P-of-theta/corrected", "L-eq-7-8/reduced", "L-thm-1/invariance/open",
    "L-thm-1/softmax/corrected", "L-thm-1", "L-thm-1/every-point", "L-thm-1/gradient",
    "L-thm-1/rate/any-loss", "L-proof-thm-1/eq-24", "L-proof-thm-1/eq-25/exactly",
    "L-proof-thm-1/remainder/corrected", "L-proof-thm-1/remainder/every-constant",
    "L-proof-thm-1/contraction/corrected", "L-proof-thm-1/contraction/no-rate",
    "L-proof-thm-1/induction", "L-proof-thm-1/last-display", "L-thm-4-remarks/centred",
    "L-before-prop-5/one-rate-suffices/corrected", "L-norm-Ghat/independent/corrected",
    "L-norm-Ghat/independent-given-weights/corrected", "L-proof-prop-5/last-equation",
    "L-proof-prop-5/longest-row/signs", "L-prop-6", "L-prop-6/in-place",
    "L-prop-6/one-less/corrected", "L-prop-6/from-zero/corrected", "L-prop-6/step-1",
    "L-prop-6/BN-statistics", "L-prop-6/BN-forward", "L-prop-6/BN-backward",
    "L-prop-6/BN-backward-as-arrays/corrected", "L-prop-6/BN-backward/closed-form",
    "L-prop-6/BN-total", "L-prop-6/crossover", "L-prop-6/crossover/closed-form",
    "L-prop-6/expected/corrected", "L-prop-7/through-statistics/corrected",
    "L-LN-GN/whole-matrix", "L-LN-GN/of-BN", "L-LN-GN/examples/of-LN", "L-LN-GN/every-group",
    "L-LN-GN/examples/every-group", "L-LN-GN/eps/corrected", "L-LN-GN/gradient-every-group",
    "L-LN-GN/gradient-rms", "L-LN-GN/one-group", "L-lemma-8/example", "L-lemma-8",
    "L-lemma-8/shipped", "L-lemma-8/shipped-matrix", "L-lemma-8/shipped-transpose",
    "L-lemma-8/entry/corrected", "L-lemma-8/entry/every-size", "L-lemma-8/column", "L-prop-9",
    "L-prop-9/shipped", "L-prop-9/batch-coupled/corrected", "L-proof-prop-9/gradient",
    "L-proof-prop-9/outputs", "L-eq-19-22/19", "L-eq-19-22/19/shipped", "L-eq-19-22/20",
    "L-eq-19-22/20/shipped", "L-eq-19-22/21", "L-eq-19-22/22",
    "L-eq-19-22/relative/constant-map", "L-prop-10/variance",
    "L-prop-10/variance/from-above/step", "L-prop-10/variance/bound/step",
    "L-prop-10/variance/bound/attained", "L-prop-10/variance/bound/any-window/step",
    "L-prop-10/variance/rectified/step", "L-prop-10/variance/rectified/small-windows/step",
    "L-prop-10/variance/rectified/small-windows/attained", "L-prop-10/sharpened/attained",
    "L-prop-10/how-much", "L-prop-10/left-out", "L-prop-10/middle", "L-proof-prop-10/eq-35",
    "L-proof-prop-10/padded/corrected", "L-proof-prop-10/counted/corner",
    "L-proof-prop-10/last-display", "L-q-conv/first-column", "L-q-conv/over-q",
    "L-q-conv/apart", "L-q-conv/geometric-mean", "L-alg-3", "L-alg-3/shipped",
    "L-alg-3/centred/corrected", "L-alg-3/centred/error", "L-online/rank-one",
    "L-online/variance/corrected", "L-online/variance/with-new", "L-online/one-weight",
    "L-proof-prop-11/largest-quotient", "L-proof-prop-11/smallest-quotient/corrected",
])  # fmt: skip


def differs(entry: Entry) -> str:
    """Return in words how a proof of one of the papers' statements reaches not as is listed.

    >>> from theory.santurkar2018 import CLAIMS
    >>> from verify.ledger import entry
    >>> from verify.record import Record
    >>> from verify.results import Proof
    >>> [claim] = [claim for claim in CLAIMS if claim.id == "S-thm-4.1"]
    >>> narrow = Record(claim.id, "symbolic", proof=Proof(({"m": 2}, {"m": 3})))
    >>> differs(entry(claim, [Record(claim.id, "abstract"), narrow]))
    'proved at m = 2, 3, and listed as proved for every batch size'
    """
    is_listed = entry.claim.id in AT_NAMED_SIZES
    if entry.by in ("", "named sizes" if is_listed else "abstract"):
        return ""
    listed = "at named sizes" if is_listed else "for every batch size"
    return f"proved at {entry.scope}, and listed as proved {listed}"
