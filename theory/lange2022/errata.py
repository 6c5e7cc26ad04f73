r"""What is wrong with the statements of Lange, Helfrich and Ye, one root cause each.

What matters most comes first, then the paper's own order.
"""

from theory.erratum import Erratum, Kind

ERRATA = [
    Erratum(
        name="one-constant", title="The expected norm of the normalised inputs", kind=Kind.READING,
        in_short="a constant that serves every law, or every size of a heavy-tailed law, does not"
        " exist; with a fourth moment it does",
        wrong=r"The proof takes $\mathbb E\max_i\|g_i\|^2 = n$, which from two examples on"
        r" holds for signs only: a maximum of random variables is larger than their mean. If one"
        r" $C$ is to serve every law, sparse entries refute every $C$ as the sizes grow; with"
        r" finite fourth moment there is one that depends on it.",
        entries=(
            "L-prop-5/expectation-every-law", "L-prop-5/expectation-each-law",
            "L-proof-prop-5/longest-row",
        ),
        right=(
            "L-prop-5/expectation-fourth-moment", "L-proof-prop-5/longest-row/corrected",
            "L-prop-5/expectation-each-batch-size",
        ),
        depends="The choice of $q$, in as far as it is to be safe for every law.",
    ),
    Erratum(
        name="normalised-entries", title="The normalised entries are not independent",
        kind=Kind.HYPOTHESIS,
        in_short="a normalised column sums to zero, so its entries are correlated",
        wrong=r"Proposition 5 asks for independent entries of mean zero and variance one, by which"
        r" the text models the normalised ones, 'approximately independent' at the start of"
        r" training. The entries of a normalised column sum to zero, and their mean product is"
        r" $-1/(N-1)$: the model is near for large batches, and exact for none.",
        entries=("L-prop-5/independent-entries",),
        right=("L-prop-5/independent-entries/corrected", "L-prop-5/expectation-normalised"),
    ),
    Erratum(
        name="error-of-the-means", title="The error of the channel's means", kind=Kind.HYPOTHESIS,
        in_short=r"needs $\max\{r, s\} \ge (k-1)/2$",
        wrong=r"The proof counts $(k-1)/2$ rows and columns of the map where a small map has fewer."
        r" With a map at least half as large as the kernel in one direction, the bound holds; for"
        r" every size the share $\theta$ of the places left out takes its place, and is sharp."
        r" A constant map breaks the printed bound exactly where both sizes are below $(k-1)/2$.",
        entries=("L-prop-10", "L-proof-prop-10/counted"),
        right=(
            "L-prop-10/corrected", "L-prop-10/sharpened", "L-prop-10/how-much",
            "L-proof-prop-10/counted/corrected",
        ),
        depends="Nothing in practice: maps that small do not occur in the paper's networks.",
    ),
    Erratum(
        name="every-step", title="The rate holds for every step", kind=Kind.HYPOTHESIS,
        in_short="needs $r < 1$",
        wrong=r"Where $r \ge 1$ the iteration may leave the neighbourhood in which its rate is"
        r" bounded. The learning rate has to be below $2/\lambda_{\max}$ at the minimizers near the"
        r" start; no constant of the remainder serves the whole manifold, if the proof's 'some C' "
        r" is read so.",
        entries=(
            "L-thm-1/rate", "L-eq-5-6/5", "L-proof-thm-1/contraction", "L-proof-thm-1/remainder",
        ),
        right=(
            "L-eq-5-6/5/any-loss", "L-thm-1/rate/any-loss", "L-eq-5-6/5/corrected",
            "L-thm-1/rate/corrected", "L-proof-thm-1/contraction/corrected",
            "L-proof-thm-1/remainder/corrected",
        ),
        depends="Theorem 1's second part, and (5) for every k; the rate (6) is not touched.",
    ),
    Erratum(
        name="scaling-with-biases",
        title="A ReLU layer with biases is not scale-invariant in its weights",
        kind=Kind.HYPOTHESIS,
        in_short="needs the bias to be scaled with the row, or no biases",
        wrong=r"Network (1) has biases. Scaling a row of the weights and not its bias may change"
        r" the output; scaling both does not.",
        entries=("L-thm-1/invariance",),
        right=("L-thm-1/invariance/corrected", "L-thm-1/invariance/open"),
    ),
    Erratum(
        name="minimizer", title="What a local minimizer is", kind=Kind.READING,
        in_short="if 'or' means 'that is', needs a positive definite Hessian, as is assumed next",
        wrong="A zero gradient and a positive semi-definite Hessian do not make a minimizer:"
        " $t^3$ at zero. The converse holds; and with the Hessian positive definite, which the next"
        " sentence assumes, they do.",
        entries=("L-def-minimiser",),
        right=("L-def-minimiser/corrected",),
    ),
    Erratum(
        name="which-learning-rate", title="The learning rate in the preconditioned parameters",
        kind=Kind.READING,
        in_short="with the best learning rate there, not the one kept",
        wrong=r"The rate $(\kappa-1)/(\kappa+1)$ in $z$, 'as determined by (6)', belongs to the"
        r" best learning rate for the preconditioned Hessian; with that of the original parameters"
        r" it need not hold.",
        entries=("L-eq-7-8/kept-learning-rate",),
        right=("L-eq-7-8/kept-learning-rate/corrected",),
    ),
    Erratum(
        name="no-deviation", title="A feature without deviation", kind=Kind.HYPOTHESIS,
        in_short=r"needs $\sigma_H > 0$, or $\epsilon$ in the variances as Algorithm 2 has it",
        wrong=r"Theorem 3 divides by each feature's deviation, which may be zero, as for a ReLU"
        r" unit that no example of the batch opens.",
        entries=("L-thm-3/every-batch",),
        right=("L-thm-3/every-batch/corrected",),
    ),
    Erratum(
        name="nonsingular-scaling", title="A scaling with zeros", kind=Kind.HYPOTHESIS,
        in_short=r"needs $D_0$ nonsingular",
        wrong=r"With the smallest nonzero singular value in $\kappa$, a $D_0$ that keeps one column"
        r" has $\kappa = 1$, the least there is. Van der Sluis' minimum is over nonsingular $D_0$.",
        entries=("L-thm-4c/zeros", "L-lemma-A1/zeros"),
        right=("L-thm-4c", "L-lemma-A1"),
    ),
    Erratum(
        name="rate-improves", title="The rate of descent improves", kind=Kind.HYPOTHESIS,
        in_short="needs the mean weighted by S; dividing by variances may still cost a factor",
        wrong=r"Theorem 4 compares the inputs' condition numbers; $r$ depends on the Hessian's, and"
        r" $\kappa(\hat G^\top S\hat G)$ may exceed $\kappa(\hat H^\top S\hat H)$, by the centring"
        r" alone for an $S$ that weighs examples differently. For $S > 0$, centred by a mean"
        r" weighted by $S$ it does not. Divided by the deviations, weighted or not, it may; than"
        r" the weighted ones no other diagonal is better by more than $n$.",
        entries=("L-thm-4-remarks/reduced-r",),
        right=(
            "L-thm-4-remarks/reduced-r/weighted-mean",
            "L-thm-4-remarks/reduced-r/weighted-variance",
        ),
        depends="The sentences that Theorem 4 improves the convergence.",
    ),
    Erratum(
        name="by-as-much", title="An improvement by as much as the square of the deviations' ratio",
        kind=Kind.READING,
        in_short="possible; as an upper bound it holds for the centred Hessian",
        wrong=r"'By as much as $\kappa(D)^2$' is attained, and bounds the improvement of the"
        r" centred Hessian. Read as a bound for the Hessian itself it leaves out what centring"
        r" gains.",
        entries=("L-thm-4-remarks/by-as-much",),
        right=(
            "L-thm-4-remarks/tight", "L-thm-4-remarks/by-as-much/centred",
            "L-thm-4-remarks/by-as-much/both",
        ),
    ),
    Erratum(
        name="one-learning-rate", title="One learning rate for all layers", kind=Kind.READING,
        in_short="necessary, not sufficient: blocks off the diagonal count",
        wrong=r"That $\alpha\|\nabla^2_\ell L\| < 2$ for each layer's block is necessary for"
        r" descent; it does not suffice, since the blocks between layers count too.",
        entries=("L-before-prop-5/one-rate-suffices",),
        right=("L-before-prop-5/one-rate-needs", "L-before-prop-5/one-rate-suffices/corrected"),
    ),
    Erratum(
        name="independent-features", title="The features of a layer are independent",
        kind=Kind.HYPOTHESIS,
        in_short="given the inputs, for random weights; not given the weights",
        wrong=r"Features of one layer share their inputs. For given weights they may be correlated;"
        r" for random weights of mean zero linear ones are uncorrelated but need not be"
        r" independent. Given the inputs they are independent.",
        entries=("L-norm-Ghat/independent", "L-norm-Ghat/independent-given-weights"),
        right=(
            "L-norm-Ghat/independent/corrected", "L-norm-Ghat/independent-given-weights/corrected",
        ),
    ),
    Erratum(
        name="lost-expectation", title="An expectation and a constant lost on the way",
        kind=Kind.SLIP,
        in_short="the expectation and the constant are lost; Proposition 5 has both",
        wrong=r"The lines before Proposition 5 bound an expected norm by $C\max\{\sqrt n,\sqrt N\}$"
        r" and end with a norm bounded by $\sqrt N$.",
        entries=("L-before-prop-5/norm-over-q", "L-prop-5/expectation-without-constant"),
        right=("L-before-prop-5/norm-over-q/corrected", "L-prop-5/expectation-normalised"),
    ),
    Erratum(
        name="column-of-ones", title="The norm with the column of ones", kind=Kind.SLIP,
        in_short=r"a sum for a maximum: $\mathbf 1$ and $G$ are orthogonal only after"
        r" normalisation",
        wrong=r"$\|\hat G\| = \max\{\sqrt N, \|G\|\}$ needs columns orthogonal to $\mathbf 1$,"
        r" which normalised columns are and independent entries are not. A sum bounds both.",
        entries=("L-proof-prop-5/column-of-ones",),
        right=("L-proof-prop-5/column-of-ones/corrected", "L-norm-Ghat"),
    ),
    Erratum(
        name="negative-powers", title="Seginer's lemma for negative powers", kind=Kind.READING,
        in_short=r"for $k \ge 1$",
        wrong=r"$k \le 2\log\max\{m, n\}$ admits negative $k$. At $k = -10$ the lemma fails for"
        r" every constant above $2^{1/10}$, at $k = 4$ for every one up to 6/5; $k \ge 1$ is meant."
        r" Shown is $k = -10$ with the constant 6/5, whose root has 5/6 on the right.",
        entries=("L-lemma-A2/negative-k",),
        right=("L-lemma-A2/k-1", "L-lemma-A2/k-2"),
    ),
    Erratum(
        name="counting", title="How operations are counted", kind=Kind.READING,
        in_short=r"an inner product of $k$ terms counts $2k$",
        wrong=r"The text does not say how it counts. With $2k$ operations for an inner product of"
        r" $k$ terms, $k - 1$ for a sum, and BN's backward pass term by term every printed number"
        r" is exact; other conventions give other numbers.",
        entries=(
            "L-prop-6/one-less", "L-prop-6/from-zero", "L-prop-6/steps-4-5/one-less",
            "L-prop-6/BN-backward-as-arrays",
        ),
        right=("L-prop-6", "L-prop-6/steps-4-5", "L-prop-6/BN-backward"),
    ),
    Erratum(
        name="more-operations", title="Batch Normalization takes more operations",
        kind=Kind.READING,
        in_short=r"that BNP takes fewer needs about $14N > 3n_\ell$; small batches lack it",
        wrong=r"'We expect $28N > 6n_\ell$' holds for a batch of 60 and a layer of 100, and not for"
        r" the batches of 6 and 1 of the experiments. The paper finds so itself: in Table 1 BN is"
        r" faster for the smaller batch.",
        entries=("L-prop-6/expected",),
        right=("L-prop-6/expected/corrected",),
    ),
    Erratum(
        name="shape-of-the-bias", title="The transformed bias", kind=Kind.SLIP,
        in_short=r"$W\,(\mu/\sigma)$ for $W\operatorname{diag}(\mu/\sigma)$",
        wrong=r"The bias's transformation prints a matrix where a vector belongs.",
        entries=("L-prop-7",),
        right=("L-prop-7/corrected",),
    ),
    Erratum(
        name="step-with-q", title="The step of a layer with more inputs than examples",
        kind=Kind.HYPOTHESIS,
        in_short=r"needs the learning rate times $q^2$ where $q > 1$",
        wrong=r"A step of Batch Normalization is one of preconditioning by $PP^\top$; BNP has"
        r" $(1/q^2)PP^\top$, which differs for $n > N$.",
        entries=("L-prop-7/step-with-q",),
        right=("L-prop-7/step-with-q/corrected", "L-prop-7/step"),
    ),
    Erratum(
        name="invariances", title="The invariances of layer and group normalisation",
        kind=Kind.READING,
        in_short="LN is invariant to a positive factor for all rows or for one example, not for one"
        " row",
        wrong="Layer Normalization is not invariant to a positive factor for one row of the"
        " weights, and Batch Normalization not to one for one example. Layer Normalization is"
        " invariant to one for an example, Batch Normalization to one for a row; Group"
        " Normalization to one for a group of rows, for every number of groups of more than one"
        " row.",
        entries=("L-LN-GN", "L-LN-GN/examples"),
        right=("L-LN-GN/whole-matrix", "L-LN-GN/of-BN", "L-LN-GN/every-group"),
    ),
    Erratum(
        name="indices-of-the-kernel", title="Which weight an entry of the matrix meets",
        kind=Kind.SLIP,
        in_short="the kernel's two indices are interchanged in one place",
        wrong=r"By vec, column $(j-1)k + v$ belongs to $w(v, j)$; the sentence below (16) has"
        r" $w(j, v)$. The matrix itself, and the example, are right.",
        entries=("L-lemma-8/entry",),
        right=("L-lemma-8/entry/corrected", "L-lemma-8"),
    ),
    Erratum(
        name="approximate-variances", title="Column and channel variances are approximately equal",
        kind=Kind.READING,
        in_short=r"in units of $\max|h|^2$; as a ratio not",
        wrong=r"A constant map other than zero has $\sigma(p) = 0$, and the columns of the unfolded"
        r" map with $0 < \theta < 1$ have a positive variance, from the zeros around it.",
        entries=("L-eq-19-22/relative",),
        right=("L-eq-19-22/relative/constant-map", "L-prop-10/variance"),
    ),
    Erratum(
        name="estimate-for-convolutions", title="The norm estimate of a convolution layer",
        kind=Kind.READING,
        in_short=r"the norm is at least $\sqrt{Nrs}$",
        wrong=r"Read as a bound it falls: the column of ones alone has the norm $\sqrt{Nrs}$.",
        entries=("L-q-conv",),
        right=("L-q-conv/corrected", "L-q-conv/first-column"),
        depends="The choice of $q$ for convolutions, which the text calls a heuristic estimate.",
    ),
    Erratum(
        name="zero-weights", title="The Hessian where an example does not count",
        kind=Kind.HYPOTHESIS,
        in_short=r"needs $S > 0$, or only the examples that count",
        wrong=r"Proposition 11 has $S$ positive definite. In section 3.3 it is used for the $S$"
        r" of a network, where an example may have no curvature, or a negative one. In the"
        r" counterexample $S = \operatorname{diag}(\max\{s, 0\})$.",
        entries=("L-prop-11/semidefinite", "L-prop-11/indefinite"),
        right=("L-prop-11", "L-prop-11/semidefinite/corrected"),
        depends="The bound on the Hessian's condition number after Proposition 2.",
    ),
    Erratum(
        name="column-norms", title="The norms of the centred columns", kind=Kind.READING,
        in_short=r"divided by $\sqrt N$, not multiplied",
        wrong=r"The norms 'scaled by $\sqrt N$' are divided by it, as the next sentence has it.",
        entries=("L-before-thm-4/column-norms",),
        right=("L-before-thm-4/column-norms/corrected",),
    ),
    Erratum(
        name="number-of-an-equation", title="The number of an equation", kind=Kind.SLIP,
        in_short="(28) for (29)",
        wrong="The text says (29), and the display that follows has the right side of (28).",
        entries=("L-proof-thm-4/number-of-the-equation",),
        right=("L-eq-28-32/28",),
    ),
    Erratum(
        name="rows-of-the-padded-map", title="How many rows the windows reach", kind=Kind.SLIP,
        in_short=r"$r + k - 1$ for $r + (k-1)/2$",
        wrong="The zeros stand on both sides of the map, as Figure 1 has them. The count that the"
        " proof needs does not depend on it.",
        entries=("L-proof-prop-10/padded",),
        right=("L-proof-prop-10/padded/corrected",),
    ),
    Erratum(
        name="smallest-quotient", title="The smallest quotient of S over the columns",
        kind=Kind.SLIP,
        in_short=r"$\ge$ for $=$",
        wrong="Over the multiples of a column the quotient is at least the smallest entry of $S$;"
        " the inequality that the proof needs is right.",
        entries=("L-proof-prop-11/smallest-quotient",),
        right=("L-proof-prop-11/smallest-quotient/corrected",),
    ),
]  # fmt: skip
