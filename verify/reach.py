"""How far the provers reach: of which of the papers' statements each proof is at named sizes.

What is proved of maps or of a descent is at named sizes, as no prover knows them without; any other
statement of a batch or a layer that is proved is proved for every batch size.  One prover that fell
silent would leave a narrower proof of another, and the verdict as it was; the list tells.  Coq's
kernel is not asked here: it proves some of these for every size besides.
"""

from __future__ import annotations

from theory.matrix_claim import Kind
from verify.ledger import Entry

AT_NAMED_SIZES = frozenset([
    "S-remark-growth/last-term/two-examples", "S-remark-growth/last-term/two-examples-hessian",
    "L-alg-1/renormalization-gradients/corrected", "L-alg-1/renormalization-gradients/two-examples",
    "L-thm-4-remarks/centred", "L-norm-Ghat/independent/corrected",
    "L-norm-Ghat/independent-given-weights/corrected", "L-proof-prop-5/last-equation",
    "L-proof-prop-5/longest-row/signs", "L-prop-6", "L-prop-6/in-place",
    "L-prop-6/one-less/corrected", "L-prop-6/from-zero/corrected", "L-prop-6/step-1",
    "L-prop-6/BN-statistics", "L-prop-6/BN-forward", "L-prop-6/BN-backward",
    "L-prop-6/BN-backward-as-arrays/corrected", "L-prop-6/BN-backward/closed-form",
    "L-prop-6/BN-total", "L-prop-6/crossover", "L-prop-6/crossover/closed-form",
    "L-prop-6/expected/corrected", "L-prop-7/through-statistics/corrected", "L-LN-GN/whole-matrix",
    "L-LN-GN/of-BN", "L-LN-GN/examples/of-LN", "L-LN-GN/every-group",
    "L-LN-GN/examples/every-group", "L-LN-GN/eps/corrected", "L-LN-GN/gradient-every-group",
    "L-LN-GN/gradient-rms", "L-online/rank-one", "L-online/variance/corrected",
    "L-online/variance/with-new", "L-proof-prop-11/largest-quotient",
    "L-proof-prop-11/smallest-quotient/corrected",
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
    is_named = entry.claim.id in AT_NAMED_SIZES
    is_named |= getattr(entry.claim, "subject", Kind.LAYER) is not Kind.LAYER
    if entry.by in ("", "named sizes" if is_named else "abstract"):
        return ""
    listed = "at named sizes" if is_named else "for every batch size"
    return f"proved at {entry.scope}, and listed as proved {listed}"
