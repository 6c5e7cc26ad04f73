"""The statements of Lange, Helfrich and Ye, one line each."""

from theory.summary import Line, Section

RESULTS, REMARKS, PROOFS = Section.RESULTS, Section.REMARKS, Section.PROOFS

LINES = [
    Line(
        "L-thm-1",
        RESULTS,
        "Descent on a scale-invariant manifold",
        {"null space": "L-thm-1", "rate": "L-thm-1/rate"},
    ),
    Line("L-prop-2", RESULTS, "The Hessian in one unit's parameters", {"": "L-prop-2"}),
    Line("L-thm-3", RESULTS, "The preconditioned Hessian", {"": "L-thm-3"}),
    Line("L-thm-4a", RESULTS, "Centring improves the condition number", {"": "L-thm-4a"}),
    Line("L-thm-4b", RESULTS, "When centring is a strict improvement", {"": "L-thm-4b"}),
    Line(
        "L-thm-4c",
        RESULTS,
        "Scaling is nearly optimal",
        {"nonsingular scalings": "L-thm-4c", "any diagonal": "L-thm-4c/zeros"},
    ),
    Line(
        "L-prop-5",
        RESULTS,
        "The expected norm of the normalised inputs",
        {
            "a constant for each batch size": "L-prop-5/expectation-each-batch-size",
            "for each law": "L-prop-5/expectation-each-law",
            "for every law": "L-prop-5/expectation-every-law",
        },
    ),
    Line("L-prop-6", RESULTS, "The operations of a step", {"": "L-prop-6"}),
    Line(
        "L-prop-7",
        RESULTS,
        "Batch Normalization as a vanilla layer and a step of BNP",
        {
            "the bias as printed": "L-prop-7",
            "the step": "L-prop-7/step",
            "with q > 1": "L-prop-7/step-with-q",
        },
    ),
    Line(
        "L-lemma-8",
        RESULTS,
        "A convolution as a matrix product",
        {"the product": "L-lemma-8", "an entry's weight": "L-lemma-8/entry"},
    ),
    Line("L-prop-9", RESULTS, "The Hessian in one channel's parameters", {"": "L-prop-9"}),
    Line("L-prop-10", RESULTS, "The error of the channel's means", {"": "L-prop-10"}),
    Line(
        "L-prop-11",
        RESULTS,
        "The condition number of the Hessian",
        {"S > 0": "L-prop-11", "S ≥ 0, as it is used": "L-prop-11/semidefinite"},
    ),
    Line(
        "L-lemma-A1",
        RESULTS,
        "Scaling columns to norm one is nearly optimal (van der Sluis)",
        {"nonsingular scalings": "L-lemma-A1", "any diagonal": "L-lemma-A1/zeros"},
    ),
    Line(
        "L-lemma-A2",
        RESULTS,
        "The norm of a random matrix (Seginer)",
        {"k = 1": "L-lemma-A2/k-1", "k = 2": "L-lemma-A2/k-2", "k = 10": "L-lemma-A2/k-10"},
    ),
    Line(
        "L-alg-1",
        RESULTS,
        "Batch renormalization trains and infers alike",
        {"": "L-alg-1/renormalization"},
    ),
    Line(
        "L-eq-15",
        RESULTS,
        "Algorithm 2 applies the preconditioner",
        {"in turn": "L-eq-15", "at once": "L-eq-15/simultaneous"},
    ),
    Line(
        "L-alg-3",
        RESULTS,
        "Algorithm 3 applies the preconditioner",
        {"in turn": "L-alg-3", "at once": "L-alg-3/at-once"},
    ),
    Line(
        "L-thm-4-remarks",
        REMARKS,
        "What Theorem 4 gains",
        {
            "Property A": "L-thm-4-remarks/property-A",
            "the chain": "L-thm-4-remarks/chain-end",
            "the rate improves": "L-thm-4-remarks/reduced-r",
        },
    ),
    Line(
        "L-norm-Ghat",
        REMARKS,
        "The norm of the normalised inputs",
        {"the norm": "L-norm-Ghat", "independent features": "L-norm-Ghat/independent"},
    ),
    Line(
        "L-overparam",
        REMARKS,
        "Scale and shift are an over-parametrisation",
        {"": "L-overparam"},
    ),
    Line(
        "L-LN-GN",
        REMARKS,
        "Layer and group normalisation have the same invariances",
        {
            "one factor for all weights": "L-LN-GN/whole-matrix",
            "for one row": "L-LN-GN",
            "for one example": "L-LN-GN/examples",
        },
    ),
    Line(
        "L-q-conv",
        REMARKS,
        "The factor q of a convolution",
        {"over q": "L-q-conv/over-q", "as a bound": "L-q-conv"},
    ),
    Line("L-online", REMARKS, "Batches of one example", {"": "L-online"}),
    Line(
        "L-def-minimiser",
        PROOFS,
        "What a local minimizer is",
        {"": "L-def-minimiser"},
    ),
    Line(
        "L-eq-5-6",
        PROOFS,
        "The rate of gradient descent, (5) and (6)",
        {"(5)": "L-eq-5-6/5", "(6)": "L-eq-5-6/6"},
    ),
    Line(
        "L-eq-7-8",
        PROOFS,
        "Descent in preconditioned parameters, (7) and (8)",
        {"": "L-eq-7-8"},
    ),
    Line(
        "L-eq-19-22",
        PROOFS,
        "Means and variances of the unfolded map, (19) to (22)",
        {
            "(19) to (22)": "L-eq-19-22/20",
            "about equal, as a ratio": "L-eq-19-22/relative",
        },
    ),
    Line("L-eq-28-32", PROOFS, "Theorem 4: equations (28) to (32)"),
    Line("L-steps", PROOFS, "Every other equation of Appendix A"),
]
