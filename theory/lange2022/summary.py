"""The statements of Lange, Helfrich and Ye, one line each."""

from theory.summary import OWN, Section, lines_of

result, remark, proof = map(lines_of, Section)

LINES = [
    result(
        "L-thm-1",
        "Descent on a scale-invariant manifold",
        {"null space": "", "rate": "/rate"},
    ),
    result("L-prop-2", "The Hessian in one unit's parameters", OWN),
    result("L-thm-3", "The preconditioned Hessian", OWN),
    result("L-thm-4a", "Centring improves the condition number", OWN),
    result("L-thm-4b", "When centring is a strict improvement", OWN),
    result(
        "L-thm-4c",
        "Scaling is nearly optimal",
        {"nonsingular scalings": "", "any diagonal": "/zeros"},
    ),
    result(
        "L-prop-5",
        "The expected norm of the normalised inputs",
        {
            "a constant for each batch size": "/expectation-each-batch-size",
            "for each law": "/expectation-each-law",
            "for every law": "/expectation-every-law",
        },
    ),
    result("L-prop-6", "The operations of a step", OWN),
    result(
        "L-prop-7",
        "Batch Normalization as a vanilla layer and a step of BNP",
        {"the step": "/step", "with q > 1": "/step-with-q", "the bias as printed": ""},
    ),
    result(
        "L-lemma-8",
        "A convolution as a matrix product",
        {"the product": "", "an entry's weight": "/entry"},
    ),
    result("L-prop-9", "The Hessian in one channel's parameters", OWN),
    result(
        "L-prop-10",
        "The error of the channel's means",
        {"max{r, s} ≥ (k - 1)/2": "/corrected", "smaller maps": ""},
    ),
    result(
        "L-prop-11",
        "The condition number of the Hessian",
        {"S > 0": "", "S ≥ 0, as it is used": "/semidefinite"},
    ),
    result(
        "L-lemma-A1",
        "Scaling columns to norm one is nearly optimal (van der Sluis)",
        {"nonsingular scalings": "", "any diagonal": "/zeros"},
    ),
    result(
        "L-lemma-A2",
        "The norm of a random matrix (Seginer)",
        {"k = 1": "/k-1", "k = 2": "/k-2", "k = 10": "/k-10"},
    ),
    result(
        "L-alg-1",
        "Batch renormalization has the same outputs in training and inference",
        {"": "/renormalization"},
    ),
    result(
        "L-eq-15",
        "Algorithm 2 applies the preconditioner",
        OWN,
    ),
    result("L-alg-3", "Algorithm 3 applies the preconditioner", OWN),
    remark(
        "L-thm-4-remarks",
        "What Theorem 4 gains",
        {"Property A": "/property-A", "the chain": "/chain-end", "the rate improves": "/reduced-r"},
    ),
    remark(
        "L-norm-Ghat",
        "The norm of the normalised inputs",
        {"the norm": "", "independent features": "/independent"},
    ),
    remark("L-overparam", "Scale and shift are an over-parametrisation", OWN),
    remark(
        "L-LN-GN",
        "Layer and group normalisation have the same invariances",
        {
            "one factor for all weights": "/whole-matrix",
            "for one row": "",
            "for one example": "/examples",
        },
    ),
    remark("L-q-conv", "The factor q of a convolution", {"over q": "/over-q", "as a bound": ""}),
    remark("L-online", "Batches of one example", OWN),
    proof(
        "L-def-minimiser",
        "What a local minimizer is",
        {"positive definite, as assumed next": "/corrected", "semi-definite": ""},
    ),
    proof("L-eq-5-6", "The rate of gradient descent, (5) and (6)", {"(5)": "/5", "(6)": "/6"}),
    proof("L-eq-7-8", "Descent in preconditioned parameters, (7) and (8)", OWN),
    proof(
        "L-eq-19-22",
        "Means and variances of the unfolded map, (19) to (22)",
        {
            "(19)": "/19",
            "(20)": "/20",
            "(21)": "/21",
            "(22)": "/22",
            "about equal, as a ratio": "/relative",
        },
    ),
    proof("L-eq-28-32", "Theorem 4: equations (28) to (32)"),
    proof("L-steps", "Every other equation of the proofs"),
]
