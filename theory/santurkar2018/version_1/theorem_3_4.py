r"""Theorem 3.4: the simplified bound on an entry of the Hessian.

"There exist :math:`\kappa_{ij}, \kappa_{kl} > 0, \gamma_{ijkl}` such that" the entry with the
layer is at most :math:`\frac{\kappa_{ij}\kappa_{kl} + \gamma_{ijkl}}{\sigma_j\sigma_l}` times that
without (:math:`\sigma(y_i)` is a slip for :math:`\sigma(y_j)`).

- If the constants may be chosen for each network and its entry is not zero, they always exist:
  :math:`\kappa = 1` and what is left.  True, and it says nothing.
- No constants do where the entry without the layer is zero and that with it is not.
- The appendix sets :math:`\kappa_{ij} = 1 + \sqrt{d_{ij}}` and :math:`\gamma = f` of Theorem C.6.
  This falls for a loss of one linear functional; rearranging C.6 would leave
  :math:`1/\sqrt{d_{ij}d_{kl}}` in front.
- "Each element of the Hessian shrinks" where sigma is large falls like the second.

What holds is the corrected Theorem C.6.
"""

from theory.language.expression import equal, named
from theory.language.operations import absolute, dot
from theory.santurkar2018.chosen import with_hints
from theory.santurkar2018.texts import readings_of, version_1
from theory.santurkar2018.version_1 import theorem_c6
from theory.santurkar2018.version_1.letters import CENTRED, ENTRY, hessian, tenfold, x_i, x_k
from theory.santurkar2018.version_1.theorem_c6 import GRADIENT, ROOT_I, ROOT_K
from theory.statement import PROVED, REFUTED, assume
from theory.unit import sigma

VANILLA = dot(x_i, hessian(x_k))
"""The entry without the layer, at the layer's output."""
reading = readings_of(
    "S-v1-thm-3.4",
    (
        version_1(181, "Sect. 3.3, Theorem 3.4", r"\gamma_{ijkl}}{\sigma(y_i) \sigma(y_l)}"),
        version_1(179, "Sect. 3.3, Theorem 3.4", r"\exists \ \kappa_{ij}, \kappa_{kl} > 0"),
    ),
    "a Hessian's entry shrinks, ",
    expected=REFUTED,
    corrected_by=theorem_c6.RIGHT.id,
)

BOUND = "Printed is |∂²L̂| ≤ (κκ' + γ)/(σⱼσₗ) |∂²L|, for some κ, κ' > 0 and γ."
CONDITIONS = (
    "The 'correlation and variance conditions' are left to Theorem C.6, and not asked for here;"
    " its entry S-v1-thm-C6/two-units meets them: there, too, the entry is zero without the layer"
    " and not with it."
)
OWN_GAMMA = named(r"\gamma_{ijkj}", sigma**2 * absolute(ENTRY) / absolute(VANILLA) - 1)
NOT_ZERO = assume(VANILLA**2 > 0, printed=False)
CLAIMS = with_hints([
    reading(
        "/any-constants", equal(ENTRY, 0),
        "any constants, where the entry without BatchNorm is zero",
        hypotheses=(*CENTRED, assume(equal(VANILLA, 0), printed=False)),
        remark=f"{BOUND} Where the entry without the layer is zero, no constants help unless the"
        f" entry with it is zero too. {CONDITIONS}",
    ),
    reading(
        "/own-constants", absolute(ENTRY) <= (1 + OWN_GAMMA) / sigma**2 * absolute(VANILLA),
        "constants chosen for each network",
        hypotheses=(NOT_ZERO,), expected=PROVED, corrected_by=None,
        remark="Printed is that some κ, κ' > 0 and γ exist. With κ = κ' = 1 and this γ the bound is"
        " an equality for any two numbers of which the second is not zero, and so says nothing.",
    ),
    reading(
        "/given-constants",
        absolute(theorem_c6.with_layer(x_i, x_k))
        <= ((1 + ROOT_I) * (1 + ROOT_K) + 6 * GRADIENT)
        / sigma**2
        * absolute(theorem_c6.without_layer(x_i, x_k)),
        "the constants of the appendix, a loss of one functional",
        hypotheses=CENTRED,
        remark=f"{BOUND} The appendix sets κ = 1 + √d and γ = 6‖∂L/∂ŷ‖. Both sides"
        f" fall as 1/σ², so that no condition on σ helps. {theorem_c6.CHOSEN}",
    ),
    reading(
        "/shrinks", absolute(ENTRY) <= absolute(VANILLA), "each element where σ is large",
        locations=(
            version_1(177, "Sect. 3.3, before Theorem 3.4", "*each element* of the Hessian"),
        ),
        hypotheses=(*CENTRED, assume(sigma**2 >= 100, tenfold)),
        remark=CONDITIONS,
    ),
])  # fmt: skip
