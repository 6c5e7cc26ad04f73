r"""What is wrong with the statements of Santurkar, Tsipras, Ilyas and Madry, one root cause each.

What matters most comes first; the last version and its supplement before the first version.
"""

from theory.erratum import Erratum, Kind
from theory.santurkar2018.texts import ONE_TEXT

LAST_VERSION = [
    Erratum(
        name="minimax-smoothness", title="The minimax bound on smoothness in the weights",
        kind=Kind.FALSE,
        in_short="false for the four meanings of $\\kappa$ examined; what the layer adds can be"
        " positive",
        wrong=r"(58) puts $\lambda^2 I$ for $XX^\top$. The maximum is there only if the"
        r" gradient $h = \nabla_y\hat L$ is an eigenvector of the Hessian, and it never is unless"
        r" it is zero: $\langle\hat y,\hat H h\rangle = -|h|^2/\sigma$ while"
        r" $\langle\hat y, h\rangle = 0$. Four meanings of $\kappa$, each with $<$ and $\le$, are"
        r" examined; none makes the theorem true. For a linear loss it fails for every $m \ge 3$"
        r" and every batch where $\gamma\langle g,\hat y\rangle > 0$ and $h \ne 0$: at $X$ along"
        r" $\mathbf 1$ the left side is zero.",
        entries=(
            "S-thm-C1/kappa/at-most", "S-thm-C1/kappa", "S-thm-C1/first-display",
            "S-thm-C1/first-display/at-most", "S-thm-C1/weights", "S-thm-C1/weights/at-most",
            "S-thm-C1/difference", "S-thm-C1/difference/at-most", "S-thm-C1/kappa/linear/at-most",
            "S-thm-C1/weights/linear/at-most", "S-eq-58",
        ),
        right=("S-thm-C1/kappa/corrected", "S-thm-C1/kappa/minimax", "S-thm-C1/kappa/every-batch"),
        depends="The sentence that the layer makes the landscape smoother in the weights as well.",
    ),
    Erratum(
        name="minimax-gradient",
        title="The powers in the minimax bound on the gradient in the weights", kind=Kind.SLIP,
        in_short=r"with $g_j$ for $g_j^2$, $\lambda^2$ at the middle term and $1/m$ at the last"
        r" it is an equality",
        wrong=r"The middle term lacks its factor $\lambda^2$ and the last its factor $1/m$; it"
        r" fails whether $g_j$ on the right is a maximum or its square, and whether or not"
        r" $\mu_{g_j}$ is a mean of $\lambda g$. With the maximum itself, which is of squares"
        r" already, and the factors in their places, and $g$, $\sigma$ and $\hat y$ held while $X$"
        r" varies, the theorem is an equality. As printed it fails, for every $m \ge 2$ and"
        r" $\lambda \le 1$, wherever $0 < |g| < 1/\lambda$ and $\gamma \ne 0$.",
        entries=(
            "S-thm-4.4", "S-thm-4.4/scaled-mean", "S-thm-4.4/itself", "S-thm-4.4/not-squared",
            "S-thm-4.4/not-squared/scaled-mean",
        ),
        right=("S-thm-4.4/corrected", "S-thm-4.4/how-much"),
        depends="Nothing: its use in the text needs the corrected form only.",
    ),
    Erratum(
        name="relative-norms",
        title="The second display on smoothness, under relative norms that H preserves",
        kind=Kind.READING,
        in_short=r"needs $h^\top Hh \le g^\top Hg$, $h = \nabla_y\hat L$, which a ratio of norms"
        r" gives where $|h| \le |g|$ and $g^\top Hg \ge 0$, and their order where $|h| < |g|$",
        wrong=r"'$H$ preserves the relative norms of $g$ and $\nabla_y\hat L$' can say that the"
        r" ratios of norms agree, or their order. Neither is enough where the layer lengthens the"
        r" gradient $h = \nabla_y\hat L$, as it may where $\gamma/\sigma$ is large. By the ratio"
        r" the left side less the right one is"
        r" $\frac{\gamma^2}{\sigma^2}\,g^\top Hg\,(|h|^2/|g|^2 - 1)$, for every $m$. As the proof"
        r" uses it, $h^\top Hh \le g^\top Hg$, it holds.",
        entries=("S-thm-4.2b/ratio", "S-thm-4.2b/order"),
        right=(
            "S-thm-4.2b/direct", "S-thm-4.2b/ratio/corrected", "S-thm-4.2b/order/corrected",
            "S-thm-4.2b/ratio/how-much",
        ),
        depends="The remark that the steps of the network with the layer are more predictive.",
    ),
    Erratum(
        name="two-networks", title="The gradients of two networks with the same weights",
        kind=Kind.READING,
        in_short="an equality with the loss's gradient at the layer's output; says nothing of two"
        " networks, each at its own point",
        wrong=r"The proof ends with 'exploiting the fact that $\partial\hat L/\partial z ="
        r" \partial L/\partial y$', and that of Theorem 4.2 begins with the same of the Hessians."
        r" The same weights put the network without the layer at $y$ and the one with it at $z$,"
        r" where the loss may have another gradient and Hessian; unless the batch is constant, the"
        r" points are one only if $\gamma = \sigma$ and $\beta = \mu$. With $g = \nabla L(z)$ the"
        r" theorem is an equality. Of two networks what is true is about Lipschitz constants: one"
        r" of $L$ gives one of $\hat L$ wherever $\sigma$ is bounded below.",
        entries=(
            "S-thm-4.1/two-networks", "S-thm-4.1-identification", "S-thm-4.2-identification",
            "S-remark-growth/two-networks",
        ),
        right=(
            "S-eq-9", "S-thm-4.1-identification/corrected", "S-thm-4.2-identification/corrected",
            "S-remark-growth/two-networks/constants",
        ),
        depends="The comparisons of a network with and without the layer in Theorems 4.1, 4.2, 4.4"
        " and C.1 are comparisons at the layer's output.",
    ),
    Erratum(
        name="near-minima", title="The nearest optimum, where the layer's parameters are constants",
        kind=Kind.HYPOTHESIS,
        in_short="needs a bias and trainable $\\gamma$, $\\beta$; falls with constants",
        wrong=r"That $kW^*$ is an optimum of the network with the layer is sure if training can"
        r" move $\gamma$ and $\beta$, the outputs at $W^*$ are not constant, and the layer before"
        r" has a bias, so that the loss's gradient is orthogonal to $\mathbf 1$. With $\gamma$ and"
        r" $\beta$ constants, or without a bias, the derivative at $kW^*$ need not be zero.",
        entries=("S-lemma-4.5/fixed", "S-lemma-4.5/no-bias"),
        right=("S-lemma-4.5/trainable", "S-lemma-4.5/trainable/minimum"),
    ),
    Erratum(
        name="minima-preserved", title="All minima are preserved", kind=Kind.HYPOTHESIS,
        in_short=r"the second sentence needs a bias and trainable $\gamma$, $\beta$",
        wrong=r"A minimum of the network without the layer, of outputs that are not constant, is"
        r" sure to be one of the network with it if $\gamma$ and $\beta$ are free and the layer"
        r" before has a bias; otherwise the loss may still fall along $\beta$, or along a weight.",
        entries=("S-obs-4.3/minima/no-bias", "S-obs-4.3/minima/fixed"),
        right=(
            "S-obs-4.3/minima/bias", "S-obs-4.3/minima/no-bias/corrected",
            "S-obs-4.3/minima/fixed/corrected",
        ),
    ),
    Erratum(
        name="flatter", title="The gradient is shorter with the layer", kind=Kind.HYPOTHESIS,
        in_short=r"needs $|\gamma| \le \sigma$",
        wrong=r"'Without any assumptions on the specific weights or the loss' needs one on the"
        r" layer: the factor $\gamma^2/\sigma^2$ may lengthen the gradient where"
        r" $|\gamma| > \sigma$.",
        entries=("S-remark-growth/lipschitz",),
        right=("S-remark-growth/lipschitz/corrected",),
    ),
    Erratum(
        name="towards-the-minimum", title="The gradient's sign along the normalised batch",
        kind=Kind.HYPOTHESIS,
        in_short=r"needs $\gamma > 0$, and that $-g$ points towards the layer's centre"
        r" $\beta\mathbf 1$",
        wrong=r"A negative gradient that points towards a minimum does not make"
        r" $\langle\hat y, g\rangle$ positive: the minimum may lie beyond the layer's output."
        r" For $\gamma > 0$ it is positive where the negative gradient points towards"
        r" $\beta\mathbf 1$.",
        entries=("S-thm-4.2-discussion/descent",),
        right=("S-thm-4.2-discussion/descent/corrected",),
        depends="The condition of Theorem 4.2's discussion, and with it the remark on"
        " predictiveness.",
    ),
    Erratum(
        name="convexity", title="The loss's Hessian is positive semi-definite",
        kind=Kind.HYPOTHESIS,
        in_short="holds between kinks, with no later normalisation",
        wrong="For piecewise-linear layers and a convex loss the Hessian is positive semi-definite"
        " where it exists; across a kink the loss may bend downwards, and below a later Batch"
        " Normalization the Hessian may have negative directions.",
        entries=("S-thm-4.2-discussion/kink", "S-thm-4.2-discussion/later-batchnorm"),
        right=("S-thm-4.2-discussion/psd/network", "S-thm-4.2-discussion/psd"),
    ),
    Erratum(
        name="more-predictive", title="Steps are more predictive under both conditions",
        kind=Kind.HYPOTHESIS,
        in_short=r"needs $0 \le \gamma \le \sigma$ and relative norms; false of the gradient's"
        " change",
        wrong=r"Both conditions together, $g^\top Hg \ge 0$ and $\langle\hat y, g\rangle \ge 0$,"
        r" do not bound the second-order term by that of the network without the layer; the rate"
        r" $|\hat Hh|$ at which the gradient $h = \nabla_y\hat L$ changes along a step is at least"
        r" $|h|^2/(\sqrt m\,\sigma)$, even for a linear loss, where it is zero without the layer."
        r" The entry for the second-order term takes the convex loss $L(z) = \frac12\langle v,"
        r" z - y\rangle^2 + \langle u, z\rangle$, which has $g = u$ and $H = vv^\top$ at $z = y$.",
        entries=("S-remark-predictive/smoothness", "S-remark-predictive/gradient"),
        right=(
            "S-remark-predictive/smoothness/corrected", "S-remark-predictive/gradient/sharpened",
        ),
    ),
    Erratum(
        name="quadratic-growth", title="The squared sum of the gradient grows quadratically",
        kind=Kind.READING,
        in_short="for a sum over the batch; for a mean it does not grow",
        wrong=r"$\langle\mathbf 1, g\rangle^2 = m^2\mu_g^2$ grows as $m^2$ for a loss that is a sum"
        r" over the batch. For a mean, which is what is trained, each entry of $g$ has a factor"
        r" $1/m$, and the term does not grow.",
        entries=("S-remark-growth/mean-loss",),
        right=("S-remark-growth/sum", "S-remark-growth/mean-loss/corrected"),
    ),
    Erratum(
        name="root-of-m", title="A root of m too many", kind=Kind.SLIP,
        in_short=r"$1/m$ for $1/\sqrt m$, as the last version prints",
        wrong=r"The supplement has $1/\sqrt m$ for $1/m$ at the last term of Theorem 4.1 and of"
        r" line (9), and line (17) has it in both texts. The last version's Theorem 4.1 and its (9)"
        r" are right.",
        entries=("S-thm-4.1-supp", "S-eq-9-supp", "S-eq-17"),
        right=("S-thm-4.1", "S-eq-9", "S-thm-4.4/corrected"),
    ),
    Erratum(
        name="largest-eigenvalue", title="A quadratic form and the largest eigenvalue",
        kind=Kind.HYPOTHESIS,
        in_short="needs a symmetric matrix, which it has in the proof's bounds",
        wrong=r"$x^\top Mx \le \lambda_0(M)|x|^2$ holds for symmetric $M$; for $M = uv^\top$ with"
        r" orthogonal $u$ and $v$ the right side is zero. The bounds of the proof use it for"
        r" $M = XX^\top$; what it infers for any $X$ holds by Cauchy and Schwarz.",
        entries=("S-eq-10",),
        right=("S-eq-10/corrected", "S-eq-10/sharpened"),
    ),
    Erratum(
        name="hat-in-18", title="The normal network's loss with a hat", kind=Kind.SLIP,
        in_short=r"$L$ for $\hat L$",
        wrong=r"(18) speaks of the normal network and prints $\hat L$.",
        entries=("S-eq-18",),
        right=("S-eq-18/corrected", "S-eq-18/attained"),
    ),
    Erratum(
        name="order-in-21", title="The product rule's two columns", kind=Kind.SLIP,
        in_short="the two factors of the second term are interchanged",
        wrong=r"(21) has the derivative of $\gamma/(m\sigma)$ before the bracket; (23) and (32)"
        " have the bracket first, which is right, and (32) transposes the derivative.",
        entries=("S-eq-20-21/printed-order",),
        right=("S-eq-20-21",),
    ),
    Erratum(
        name="gradient-put-in", title="The gradient put in without its factor", kind=Kind.SLIP,
        in_short=r"lacks $\gamma^2/\sigma^2$, and the bar over $g$",
        wrong=r"(57) puts in the gradient of (47) without its factor $\gamma/\sigma$, squared here,"
        r" and with $g$ for the centred $\bar g$.",
        entries=("S-eq-57",),
        right=("S-eq-57/corrected",),
        depends="(58) carries the same difference, but falls for another reason.",
    ),
]  # fmt: skip

FIRST_VERSION = [
    Erratum(
        name="hessian-entries", title="The elementwise bound on the Hessian in the weights",
        kind=Kind.FALSE,
        in_short="false in each of its three cases; the proof mistakes the entry without the layer",
        wrong=r"The proof subtracts an upper bound for the network with the layer from an"
        r" expression that is neither the entry without it nor a bound of that: for $H = I$ and"
        r" $x_i = (1, 1, -1, -1)$, of $d = 1/4$, the expression is 2, and the entry 4 for"
        r" $x_k = x_i$ and 0 for $x_k = (1, -1, -1, 1)$. Each of the three cases has a"
        r" counterexample that meets the condition on $\sigma$.",
        entries=(
            "S-v1-thm-C6/two-units", "S-v1-thm-C6/same-weight", "S-v1-thm-C6/same-unit",
            "S-v1-proof-C6/vanilla-by-d", "S-v1-proof-C6/difference",
            "S-v1-proof-C6/two-units-vanilla", "S-v1-proof-C6/two-units-difference",
        ),
        right=("S-v1-thm-C6/corrected", "S-v1-proof-C6/difference/corrected"),
        depends="Theorem 3.4, and the remark on the spectral norm.",
    ),
    Erratum(
        name="hessian-entries-shrink", title="Each entry of the Hessian shrinks", kind=Kind.FALSE,
        in_short="false where the entry without the layer is zero; elsewhere empty if the constants"
        " may depend on the network",
        wrong=r"The layer adds terms to an entry of the Hessian that do not vanish with the entry"
        r" of the network without it: where that is zero, no constants help. Elsewhere, if the"
        r" constants may be chosen for each network, the statement says nothing.",
        entries=(
            "S-v1-thm-3.4/any-constants", "S-v1-thm-3.4/given-constants", "S-v1-thm-3.4/shrinks",
        ),
        right=("S-v1-thm-C6/corrected",),
    ),
    Erratum(
        name="closed-form-of-the-hessian", title="The closed form of the Hessian in the weights",
        kind=Kind.FALSE,
        in_short=r"$\beta_{ik}\langle g,\hat y\rangle$ is counted twice, and"
        r" $\alpha_{kj}\langle x_i, g\rangle/m$ is lost",
        wrong=r"Line (36) exchanges derivatives by a weight and by the outputs, which is right for"
        r" two units and wrong for one; (41) drops a term, and (45) leaves $1/\sigma$"
        r" undifferentiated. In the sum $\beta_{ik}\langle g,\hat y\rangle$ is counted twice and"
        r" $\frac1m\alpha_{kj}\langle x_i, g\rangle$ is lost, so that (58) is not even symmetric.",
        entries=(
            "S-v1-eq-58", "S-v1-eq-36", "S-v1-eq-41", "S-v1-eq-43", "S-v1-eq-45", "S-v1-eq-53",
        ),
        right=("S-v1-eq-58/corrected", "S-v1-eq-58/symmetric"),
        depends="(61) survives it as printed; Theorem C.6 falls for other reasons.",
    ),
    Erratum(
        name="always-more-lipschitz", title="The layer always makes the loss more Lipschitz",
        kind=Kind.FALSE,
        in_short=r"for $\sigma \ge 1$ true in $y$, what the layer is given; false in the weights",
        wrong=r"In one weight, and in all weights of a unit, the gradient can grow although"
        r" $\sigma \ge 1$: the part of $g$ along $\hat y$ that the layer takes away may have"
        r" cancelled another. It shrinks where $\sigma \ge \frac12(1/c + 1)$, $c$ the"
        r" cosine of $x_i$ and the gradient without its sign.",
        entries=("S-v1-remark-always/one-weight", "S-v1-remark-always/all-weights"),
        right=("S-v1-remark-always/one-weight/corrected", "S-v1-remark-always/output"),
    ),
    Erratum(
        name="spectral-norm", title="Smaller entries make a smaller spectral norm",
        kind=Kind.READING,
        in_short="a bound follows, by the matrix of absolute values; an improvement does not",
        wrong="A bound on the spectral norm does follow; 'and therefore an improvement' does not."
        " Every entry may shrink while the spectral norm grows, since signs may stop"
        " cancelling. What follows is a bound by the norm of the absolute values.",
        entries=("S-v1-remark-spectral",),
        right=("S-v1-remark-spectral/corrected", "S-v1-remark-spectral/root-of-n"),
    ),
    Erratum(
        name="alpha", title="The letter α has three meanings", kind=Kind.READING,
        in_short=r"$\alpha_{ij} = \langle x_i,\hat y_j\rangle$, as the proofs use it; not as it is"
        " defined",
        wrong=r"$\alpha_{ij}$ is defined by the outputs, called a correlation, and used as $\langle"
        r" x_i, \hat y_j\rangle$. With the last meaning (2) of Fact C.2 and Theorem 3.1 hold for"
        r" inputs of mean zero, which Lemma 3.3 names as the setup, and Theorem C.3 but for a slip;"
        r" with the others they do not.",
        entries=(
            "S-v1-fact-C2-eq-2/as-defined", "S-v1-fact-C2-eq-2/correlation",
            "S-v1-thm-3.1/as-defined", "S-v1-thm-3.1/correlation", "S-v1-thm-C3/as-defined",
            "S-v1-thm-C3/correlation", "S-v1-eq-4/as-defined", "S-v1-remark-resnet/as-defined",
            "S-v1-remark-resnet/correlation", "S-v1-eq-51/as-defined",
        ),
        right=("S-v1-fact-C2-eq-2/as-used", "S-v1-thm-3.1/as-used"),
    ),
    Erratum(
        name="correlation", title="Correlation as a cosine or as its square", kind=Kind.READING,
        in_short="holds for the square of a cosine",
        wrong=r"With $c$ the square of a cosine, as the proof has it, the bounds hold, that of"
        r" Theorem 3.2 with room for a factor of four; with $c$ the cosine itself they fail for"
        r" small $c$.",
        entries=("S-v1-thm-3.2/cosine", "S-v1-thm-C4/cosine"),
        right=("S-v1-thm-3.2/square", "S-v1-thm-3.2/square/sharpened", "S-v1-thm-C4/square"),
    ),
    Erratum(
        name="two-networks-first-version",
        title="The correlation and the gradient of the network without the layer",
        kind=Kind.READING,
        in_short="at the layer's output; says nothing of two networks",
        wrong=r"$c$ and the gradient on the right are those at the layer's output. Taken at the"
        r" output of the network without the layer, both theorems fail.",
        entries=("S-v1-thm-C4/two-networks", "S-v1-thm-3.2/two-networks"),
        right=("S-v1-thm-3.2/square/sharpened", "S-v1-thm-C4/square"),
    ),
    Erratum(
        name="which-epsilon", title="How small ε must be", kind=Kind.HYPOTHESIS,
        in_short=r"needs $\varepsilon < |c|$, in C.6 below the root of $d_{ij}d_{kl}$, so that the"
        r" condition on $\sigma$ says something",
        wrong=r"For $\varepsilon$ above the correlation the condition on $\sigma^2$ divides by a"
        r" negative number and holds always, while the bound is negative.",
        entries=("S-v1-thm-C4/any-epsilon", "S-v1-thm-C6/any-epsilon"),
        right=("S-v1-thm-C4/square", "S-v1-thm-C6/corrected"),
    ),
    Erratum(
        name="near-optimal", title="Near-optimal weights stay near-optimal: how small ε must be",
        kind=Kind.HYPOTHESIS,
        in_short=r"needs $\varepsilon < 1/2$; $3\varepsilon$ holds for every $\varepsilon$",
        wrong=r"The bound $3\varepsilon(1+\varepsilon)/(1-2\varepsilon)$ is negative for"
        r" $\varepsilon > 1/2$. It is not sharp: $3\varepsilon$ holds for every $\varepsilon$.",
        entries=("S-v1-lemma-3.3/any-epsilon",),
        right=("S-v1-lemma-3.3", "S-v1-lemma-3.3/any-epsilon/corrected"),
    ),
    Erratum(
        name="which-norm", title="The norm that the layer makes one", kind=Kind.READING,
        in_short=r"the norm is the root mean square; with its square for the loss"
        r" $\varepsilon < 1/4$",
        wrong=r"$\mathrm{BN}(Wx)$ has root mean square one, not Euclidean norm one. With the"
        r" squared norm for the loss the bound fails for some $\varepsilon$ above $1/4$, and holds"
        r" below.",
        entries=("S-v1-eq-28/euclidean", "S-v1-lemma-3.3/squared"),
        right=("S-v1-eq-28", "S-v1-lemma-3.3/squared/corrected"),
    ),
    Erratum(
        name="equalities-for-bounds", title="Equality signs for bounds", kind=Kind.SLIP,
        in_short=r"$\le$ for $=$",
        wrong="Lines (30) and (31) put an equality sign where the triangle inequality, and the"
        " bounds before it, give an inequality. " + ONE_TEXT,
        entries=("S-v1-eq-31", "S-v1-eq-30/repaired"),
        right=("S-v1-eq-31/corrected", "S-v1-eq-30/repaired/corrected"),
    ),
    Erratum(
        name="alpha-squared-over-m", title="The appendix's display of the sensitivity",
        kind=Kind.SLIP,
        in_short=r"$\alpha^2/m$ for $\alpha^2$, as Theorem 3.1 and (7) have it",
        wrong=r"The last term lacks its factor $1/m$. " + ONE_TEXT,
        entries=("S-v1-thm-C3/as-used",),
        right=("S-v1-eq-7",),
    ),
    Erratum(
        name="any-pair", title="Inputs and outputs of a layer near the identity", kind=Kind.READING,
        in_short="for an input and its own output; for two inputs it is an upper bound",
        wrong=r"$\alpha^2 = m^2\sigma(x_i)^2$ where the input is the output; for the output of"
        r" another unit it is an upper bound.",
        entries=("S-v1-remark-resnet/any-pair",),
        right=("S-v1-remark-resnet/any-pair/bound", "S-v1-remark-resnet/as-used"),
    ),
    Erratum(
        name="hat-in-3", title="The normal case with a hat", kind=Kind.SLIP,
        in_short=r"$y$ for $\hat y$",
        wrong=r"(3) speaks of the normal case and prints $\hat y$. " + ONE_TEXT,
        entries=("S-v1-eq-3",),
        right=("S-v1-thm-C3-vanilla",),
    ),
    Erratum(
        name="factor-in-9", title="A factor m lost", kind=Kind.SLIP,
        in_short=r"$\sum_b x_i^2 = m\,\sigma(x_i)^2$",
        wrong=r"(9) has $\sigma(x_i)^2$ for the sum of squares, which is $m\,\sigma(x_i)^2$. "
        + ONE_TEXT,
        entries=("S-v1-eq-9",),
        right=("S-v1-proof-C4/vanilla-square",),
    ),
    Erratum(
        name="left-side-of-12", title="The left side of the expansion", kind=Kind.SLIP,
        in_short="the slope in one weight, squared, for the gradient in one example",
        wrong="(12) has the squared gradient in one example on its left, an example that its right"
        " side does not have; what is expanded is the squared slope in one weight. " + ONE_TEXT,
        entries=("S-v1-eq-12",),
        right=("S-v1-eq-13",),
    ),
    Erratum(
        name="absolute-values", title="Absolute values left out", kind=Kind.SLIP,
        in_short="the middle terms stand without their absolute values",
        wrong=r"(16), (17) and (59) bound a term by an expression that may be negative, such as"
        r" $\alpha$ without its absolute value. " + ONE_TEXT,
        entries=("S-v1-eq-16", "S-v1-eq-17/repaired", "S-v1-eq-59"),
        right=("S-v1-eq-16/corrected", "S-v1-eq-17/corrected", "S-v1-eq-59/corrected"),
    ),
]  # fmt: skip

ERRATA = [*LAST_VERSION, *FIRST_VERSION]
