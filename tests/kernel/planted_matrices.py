"""For each theorem on matrices and convolutions, a wrong statement: what is edited, and into what."""

EDITS = {
    "SpectralTheorem.v": {"spectral_theorem": ("A^T = A", "A^T = - A")},
    "ConditionNumber.v": {
        "condition_number_by_quotients": ("b <= c ^+ 2 * a", "b <= c * a"),
        "condition_number_is_defined": ("F != 0 -> ", ""),
        "condition_number_of_product": ("B \\in unitmx -> ", ""),
    },
    "lange2022/theorem_4_centring.v": {
        "theorem_4a": ("full_column_rank Hhat", "full_column_rank U"),
        "theorem_4a_any_rank_corrected": ("(1 + sq mu0) * ", ""),
        "centring_by_other_means": ("(m - mean H)", "(mean H - m)"),
        "theorem_4a_other_means": ("K' <= L * K", "K' <= K"),
        "theorem_4a_any_rank_refuted": ("K < K'", "K' < K"),
    },
    "lange2022/theorem_4_strict.v": {
        "theorem_4b": ("dot mu x != 0 ->", "x != 0 ->"),
        "theorem_4b_last_component": ("dot mu x != 0 ->", "x != 0 ->"),
        "theorem_4b_N_largest": ("mu != 0 -> ", ""),
        "theorem_4b_N_smallest": ("mu != 0 -> ", ""),
        "theorem_4b_two_features": ("n <= 2", "n <= 3"),
    },
    "lange2022/lemma_a1.v": {
        "lemma_A1_by_largest": ("K ^+ 2 <= lambda * K0 ^+ 2", "K <= K0"),
        "lemma_A1_any_rank": ("K <= Num.sqrt n%:R * K0", "K <= K0"),
        "lemma_A1": ("Num.sqrt n%:R * K0", "K0"),
        "lemma_A1_property_A": ("property_A F p -> ", ""),
        "lemma_A1_two_columns": ("n <= 2", "n <= 3"),
    },
    "lange2022/theorem_4_scaling.v": {
        "theorem_4c": ("nonzero d0 -> ", ""),
        "theorem_4c_sqrt_n": ("Num.sqrt n%:R", "Num.sqrt n.-1%:R"),
        "theorem_4c_by_correlation": ("lambda * K0 ^+ 2", "lambda * K0"),
        "theorem_4c_free_bias": ("full_column_rank (augmented H) -> ", ""),
        "theorem_4_improves_corrected": ("K' ^+ 2 <= lambda * K ^+ 2", "K' ^+ 2 <= K ^+ 2"),
        "theorem_4_property_A": ("property_A (centred H (mean H)) p -> ", ""),
        "theorem_4_improves_two_features": ("n <= 2", "n <= 3"),
        "theorem_4_chain": ("K <= K' * L", "K <= K'"),
        "theorem_4_chain_end": ("K <= L * ", "K <= "),
    },
    "lange2022/proposition_11.v": {
        "proposition_11": ("positive_definite S", "semidefinite S"),
        "proposition_11_semidefinite_corrected": ("(active_rows H s)", "H"),
        "hessian_improvement_centred": ("K ^+ 2 * L", "L"),
    },
    "lange2022/proposition_2.v": {
        "proposition_2": ("curvature L2 *m Hhat)", "curvature (fun j => 2 * L2 j) *m Hhat)"),
        "proposition_2_any_loss": ("T *m Hhat)", "(2 *: T) *m Hhat)"),
        "hessian_is_unique": ("is_hessian f x V", "is_hessian f (2 *: x) V"),
    },
    "lange2022/theorem_3.v": {
        "equation_14": ("(forall k, s k 0 != 0) ->", ""),
        "theorem_3_any_statistics": ("P^T *m (", "P *m ("),
        "theorem_3": ("(forall k, 0 < variance H k 0) ->", ""),
        "theorem_3_normalized": ("(\\sum_j G j k ^+ 2) / N%:R = 1", "\\sum_j G j k ^+ 2 = 1"),
        "theorem_3_other_statistics_corrected": ("s k 0 ^+ 2", "s k 0"),
        "theorem_3_every_batch_corrected": ("0 < eps", "0 <= eps"),
    },
    "lange2022/equation_15.v": {
        "equation_7": ("(P^T *m g)", "(P^T *m (2 *: g))"),
        "equation_7_hessian": ("T *m P)", "(2 *: T) *m P)"),
        "equation_8": ("(P *m P^T *m g)", "(P *m P^T *m (2 *: g))"),
        "equation_15": ("step_5 q mu Gw' Gb", "step_5 q mu Gw Gb"),
        "equation_15_descent": ("alpha / q ^+ 2", "alpha / q"),
        "equation_15_guards": ("0 <= eps_2 ->", ""),
    },
    "lange2022/proposition_7.v": {
        "proposition_7_corrected": ("folded_bias W b mu s", "folded_bias W b s mu"),
        "proposition_7_step_with_q": ("(q ^+ 2 * alpha)", "(q * alpha)"),
        "proposition_7_step": ("- alpha *: (P *m P^T", "- alpha *: (P *m P"),
    },
    "lange2022/lemma_8.v": {
        "equation_16": ("*m vec w", "*m vec w^T"),
        "lemma_8": ("vec (layer (h i) w b)", "vec (layer (h i) w (- b))"),
        "lemma_8_entry_corrected": ("(number (v, j))", "(number (j, v))"),
    },
    "lange2022/equations_19_22.v": {
        "equation_19": ("(number (t, a))", "(number (a, t))"),
        "equation_20": ("(number (t, a))", "(number (a, t))"),
        "equation_21": ("t = half k :> nat -> ", ""),
        "equation_22": ("t = half k :> nat -> ", ""),
    },
    "lange2022/proposition_9.v": {
        "proposition_9": ("N%:R^-1 *: T i", "T i"),
        "proposition_9_any_loss": ("T *m F)", "(2 *: T) *m F)"),
    },
    "lange2022/proposition_10.v": {
        "proposition_10_left_out": ("(~~ (kept t x && kept a y))", "(kept t x && kept a y)"),
        "proposition_10_sharp": ("part_left_out R r s t a * M", "part_left_out R r s t a"),
        "proposition_10_corrected": ("(half k <= maxn r s)%N -> ", ""),
        "proposition_10_attained": (
            "- (part_left_out R r s t a * q)",
            "part_left_out R r s t a * q",
        ),
        "proposition_10_middle": ("t = half k :> nat -> ", ""),
        "proposition_10_refuted": ("odd k", "(k == 3)%N"),
    },
    "lange2022/proposition_10_variance.v": {
        "proposition_10_variance": ("(c - b) ^+ 2", "(c + b) ^+ 2"),
        "proposition_10_variance_from_above": ("(1 - theta)", "(1 - theta) ^+ 2"),
        "proposition_10_variance_bound": ("3 * theta", "2 * theta"),
        "proposition_10_variance_rectified": ("M ^+ 2 / 4", "M ^+ 2 / 8"),
    },
}
"""The old text stands in the theorem's statement; its first occurrence is edited."""
