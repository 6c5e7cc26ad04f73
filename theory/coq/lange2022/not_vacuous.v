(* The hypotheses of Theorem 4 can be met, all at once: by two examples of one feature, 2 and 0, with
   the mean 1 and the centred feature (1, -1). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning TwoByTwo.
From BatchNorm.lange2022 Require Import theorem_4_centring theorem_4_strict lemma_a1 theorem_4_scaling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section OneFeature.
Variable R : rcfType.

Definition feature : 'M[R]_(2, 1) := pair 2 0.

Lemma mean_feature : mean feature = 1%:M.
Proof.
apply/matrixP => i j; rewrite !ord1 meanE // sum_two !mxE /= mulr1n.
by rewrite addr0 mulVf // pnatr_eq0.
Qed.
Lemma centred_feature : centred feature (mean feature) = pair 1 (-1).
Proof.
rewrite mean_feature; apply/matrixP => i j; rewrite !mxE big_ord1 !mxE !ord1 mulr1n mul1r.
by have [->|->] := in_two i; rewrite ?mxE /=; ring.
Qed.
Lemma variance_feature k : variance feature k 0 = 1.
Proof.
rewrite variance_centred centred_feature ord1 (_ : col 0 _ = pair 1 (-1)).
  by rewrite sq_pair sqrrN expr1n -mulr2n mulVf // pnatr_eq0.
by apply/matrixP => i j; rewrite mxE !ord1.
Qed.
Lemma feature_spreads : no_constant_feature feature.
Proof. by move=> k; rewrite variance_feature ltr01. Qed.

Lemma full_rank_feature : full_column_rank (augmented feature).
Proof.
apply/full_column_rankP => z; have [t [x ->]] := stackE z; rewrite augmented_stack => E.
have at_ i : t + feature i 0 * x 0 0 = 0.
  by have := congr1 (fun v : 'cV_2 => v i 0) E; rewrite !mxE big_ord1 !mxE mulr1.
have t0 : t = 0 by have := at_ 1; rewrite mxE /= mul0r addr0.
have x0 : x 0 0 = 0.
  by have /eqP := at_ 0; rewrite t0 add0r mxE /= mulf_eq0 pnatr_eq0 => /eqP.
rewrite /stack t0; apply/eqP; rewrite col_mx_eq0 raddf0 eqxx /=.
by apply/eqP/matrixP => i j; rewrite !ord1 x0 mxE.
Qed.

(* Of one feature every vector is an eigenvector, to the only eigenvalue. *)
Lemma only_eigenvalue (A : 'M[R]_1) l x : eigenvector A l x -> l = A 0 0.
Proof.
move=> [x0 Ax]; have := congr1 (fun v : 'cV_1 => v 0 0) Ax; rewrite !mxE big_ord1.
have nz : x 0 0 != 0.
  by apply: contraNneq x0 => z; apply/eqP/matrixP => i j; rewrite !ord1 z mxE.
by move/(mulIf nz).
Qed.
Lemma eigenvector_one (A : 'M[R]_1) : eigenvector A (A 0 0) (1%:M : 'cV_1).
Proof.
split; first by rewrite -sq_gt0 sq_scalar expr1n ltr01.
by rewrite mulmx1 -mul_scalar_mx mulmx1 -mx11_scalar.
Qed.
Lemma largest_one (A : 'M[R]_1) : largest_eigenvector A (1%:M : 'cV_1).
Proof. by exists (A 0 0) => [|l x /only_eigenvalue ->]; first exact: eigenvector_one. Qed.
Lemma smallest_one (A : 'M[R]_1) : smallest_eigenvector A (1%:M : 'cV_1).
Proof. by exists (A 0 0) => [|l x /only_eigenvalue ->]; first exact: eigenvector_one. Qed.

Lemma augmented_neq0 : augmented feature != 0.
Proof. by rewrite row_mx_eq0 negb_and -sq_gt0 sq_e ltr0n. Qed.
Lemma nonsingular_times m n (F : 'M[R]_(m, n)) B : F != 0 -> B \in unitmx -> F *m B != 0.
Proof. by move=> F0 unit; rewrite mulmx_free_eq0 // row_free_unit. Qed.
End OneFeature.

(* Theorem 4's three parts, with a strict improvement in the second. *)
Theorem theorem_4_is_not_vacuous (R : rcfType) :
  exists N n (H : 'M[R]_(N, n)) x d0 K K' L L0,
  let Hhat := augmented H in let mu := mean H in let U := own_centring H in
  let C := centred H mu in
  [/\ (0 < N)%N, full_column_rank Hhat, mu != 0, dot mu x != 0 & no_constant_feature H] /\
  [/\ largest_eigenvector (sample_covariance H) x, smallest_eigenvector (C^T *m C) x
    & nonzero d0] /\
  [/\ condition_number Hhat K, condition_number (Hhat *m U) K', K' < K,
      condition_number (own_normalized H) L & condition_number (Hhat *m U *m diag_mx d0) L0].
Proof.
have unitU : own_centring (feature R) \in unitmx by exact: centring_nonsingular.
have U0 := nonsingular_times (augmented_neq0 R) unitU.
have [K kK] := condition_number_exists (augmented_neq0 R).
have [K' kK'] := condition_number_exists U0.
have [L kL] : exists L, condition_number (own_normalized (feature R)) L.
  apply: condition_number_exists; rewrite nonsingular_times ?own_scaling_nonsingular //.
  exact: feature_spreads.
have mu0 : mean (feature R) != 0 by rewrite mean_feature -sq_gt0 sq_scalar expr1n ltr01.
have mux : dot (mean (feature R)) 1%:M != 0 by rewrite mean_feature dot_scalar mulr1 oner_neq0.
exists 2%N, 1%N, (feature R), 1%:M, (const_mx 1), K, K', L, K'.
split; [|split]; split=> //; [exact: full_rank_feature|exact: feature_spreads| | | | |].
- exact: largest_one.
- exact: smallest_one.
- by move=> i; rewrite mxE oner_neq0.
- exact: theorem_4b (full_rank_feature R) mu0 (largest_one _) mux kK kK'.
by rewrite diag_const_mx mulmx1.
Qed.
