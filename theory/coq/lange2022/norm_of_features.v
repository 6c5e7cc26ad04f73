(* Section 3.3, before Proposition 5: the norm of Ghat = [e, G].

   The column of ones is orthogonal to features that are centred by their own means, whatever they
   are divided by, so |Ghat|^2 is the larger of N and |G|^2; with other means it is at most their
   sum.  Normalized, the features have |G|^2 = N lambda_max(R), R their correlations, of trace n and
   of a rank below N: between N n/(N - 1) and N n.

   The norm of a matrix is its largest singular value. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct SpectralTheorem ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import lemma_a1 theorem_4_scaling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Norm.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)) (s : R).
Hypothesis norm : largest_singular_value F s.

Lemma norm_bound (x : 'cV_n) : sq (F *m x) <= s ^+ 2 * sq x.
Proof.
have [[s0 _] top] := norm; apply: quotients_at_least => [|l y ey]; first exact: sqr_ge0.
have sv := gram_eigenvalue ey; have l0 : 0 <= l.
  by apply: eigenvalue_ge0 ey => z; rewrite gram_form sq_ge0.
by rewrite -(sqr_sqrtr l0) ler_sqr ?nnegrE ?sqrtr_ge0 // top.
Qed.

Lemma norm_attained : exists2 x : 'cV_n, 0 < sq x & sq (F *m x) = s ^+ 2 * sq x.
Proof.
by have [[_ [x ex]] _] := norm; exists x; [have [x0 _] := ex; rewrite sq_gt0|exact: singular_valueE].
Qed.

Lemma norm_le b : (forall x : 'cV_n, sq (F *m x) <= b * sq x) -> s ^+ 2 <= b.
Proof. by move=> le; have [x x0 E] := norm_attained; have := le x; rewrite E ler_pmul2r. Qed.

(* |F'| <= |F|. *)
Lemma norm_transpose (u : 'cV_m) : sq (F^T *m u) <= s ^+ 2 * sq u.
Proof.
have [z|z] := eqVneq (sq (F^T *m u)) 0; first by rewrite z mulr_ge0 ?sqr_ge0 ?sq_ge0.
have p : 0 < sq (F^T *m u) by rewrite lt_def z sq_ge0.
rewrite -(ler_pmul2r p); have := cauchy_schwarz (F *m (F^T *m u)) u.
rewrite dot_mul -/(sq _) -expr2 => /le_trans; apply.
by rewrite mulrAC ler_wpmul2r ?sq_ge0 // norm_bound.
Qed.
End Norm.

(* ---- the column of ones beside any features ---- *)

Section Ones.
Variables (R : rcfType) (N n : nat) (G : 'M[R]_(N, n)) (s t : R).
Hypothesis norm_Ghat : largest_singular_value (augmented G) s.
Hypothesis norm_G : largest_singular_value G t.

Lemma beside_ones_any : s ^+ 2 <= N%:R + t ^+ 2.
Proof.
apply: (norm_le norm_Ghat) => z; have [b [x ->]] := stackE z.
rewrite augmented_stack sq_stack sqD sqZ sq_e dotZl; set d := dot (e N) (G *m x).
have gap : 0 <= t ^+ 2 * sq x - sq (G *m x) by rewrite subr_ge0 (norm_bound norm_G).
have d_le : d ^+ 2 <= N%:R * (t ^+ 2 * sq x).
  rewrite /d; apply: le_trans (cauchy_schwarz _ _) _.
  by rewrite sq_e ler_wpmul2l ?ler0n // -subr_ge0.
have w0 : 0 <= N%:R * sq x + t ^+ 2 * b ^+ 2.
  by rewrite addr_ge0 // mulr_ge0 ?ler0n ?sq_ge0 ?sqr_ge0.
have cross : 2 * (b * d) <= N%:R * sq x + t ^+ 2 * b ^+ 2.
  apply: le_trans (ler_norm _) _; rewrite -ler_sqr ?nnegrE // real_normK ?num_real // -subr_ge0.
  have -> : (N%:R * sq x + t ^+ 2 * b ^+ 2) ^+ 2 - (2 * (b * d)) ^+ 2 =
    (N%:R * sq x - t ^+ 2 * b ^+ 2) ^+ 2 + 4 * b ^+ 2 * (N%:R * (t ^+ 2 * sq x) - d ^+ 2) by ring.
  by rewrite addr_ge0 ?sqr_ge0 // mulr_ge0 ?subr_ge0 // mulr_ge0 ?ler0n ?sqr_ge0.
rewrite -subr_ge0; have -> : (N%:R + t ^+ 2) * (b ^+ 2 + sq x) -
    (b ^+ 2 * N%:R + 2 * (b * d) + sq (G *m x)) =
    (N%:R * sq x + t ^+ 2 * b ^+ 2 - 2 * (b * d)) + (t ^+ 2 * sq x - sq (G *m x)) by ring.
by rewrite addr_ge0 // subr_ge0.
Qed.

Hypothesis orthogonal : G^T *m e N = 0.

Lemma sq_beside_ones b (x : 'cV_n) : sq (augmented G *m stack b x) = N%:R * b ^+ 2 + sq (G *m x).
Proof.
rewrite augmented_stack sqD sqZ sq_e dotZl [dot _ (G *m x)]dotC dot_mul orthogonal dot0r.
by rewrite !mulr0 addr0 mulrC.
Qed.

Lemma beside_ones : s ^+ 2 = Num.max N%:R (t ^+ 2).
Proof.
apply/le_anti/andP; split.
  apply: (norm_le norm_Ghat) => z; have [b [x ->]] := stackE z; rewrite sq_beside_ones sq_stack.
  rewrite mulrDr ler_add ?ler_wpmul2r ?sqr_ge0 ?le_maxr ?lexx //.
  apply: le_trans (norm_bound norm_G x) _.
  by rewrite ler_wpmul2r ?sq_ge0 // le_maxr lexx orbT.
rewrite le_maxl; apply/andP; split.
  have := norm_bound norm_Ghat (stack 1 0).
  by rewrite sq_beside_ones sq_stack mulmx0 !sq0 !addr0 expr1n !mulr1.
have [x x0 E] := norm_attained norm_G; have := norm_bound norm_Ghat (stack 0 x).
by rewrite sq_beside_ones sq_stack expr0n mulr0 !add0r E ler_pmul2r.
Qed.
End Ones.

(* "is orthogonal to": the entries' sum is zero. *)
Theorem normalized_orthogonal (R : rcfType) N n (H : 'M[R]_(N, n)) (d : 'cV[R]_n) :
  (0 < N)%N -> (features H (mean H) d)^T *m e N = 0.
Proof.
by move=> N0; rewrite features_centred trmx_mul -mulmxA centred_orthogonal // mulmx0.
Qed.

(* |Ghat|^2 is the larger of N and |G|^2, the batch's own means and any deviations d. *)
Theorem norm_of_normalized (R : rcfType) N n (H : 'M[R]_(N, n)) (d : 'cV[R]_n) s t :
  (0 < N)%N -> largest_singular_value (normalized H (mean H) d) s ->
  largest_singular_value (features H (mean H) d) t -> s ^+ 2 = Num.max N%:R (t ^+ 2).
Proof. by move=> N0 ns nt; apply: beside_ones ns nt _; apply: normalized_orthogonal. Qed.

(* With other means, such as the running ones. *)
Theorem norm_of_normalized_by_others_corrected (R : rcfType) N n (H : 'M[R]_(N, n))
    (mu d : 'cV[R]_n) s t :
  largest_singular_value (normalized H mu d) s -> largest_singular_value (features H mu d) t ->
  s ^+ 2 <= N%:R + t ^+ 2.
Proof. exact: beside_ones_any. Qed.

(* ---- by the numbers of examples and of features ---- *)

Section Normalized.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (s : R).
Hypotheses (N_gt0 : (0 < N)%N) (spread : no_constant_feature H).
Hypothesis norm : largest_singular_value (own_normalized H) s.
Local Notation G := (own_features H).

Lemma norm_le_features lambda : 1 <= lambda ->
  (forall x : 'cV_n, sq (G *m x) <= lambda * N%:R * sq x) -> s ^+ 2 <= N%:R * lambda.
Proof.
move=> l1 high; apply: (norm_le norm) => z; have [b [x ->]] := stackE z.
rewrite sq_normalized // sq_stack mulrDr ler_add // [N%:R * lambda]mulrC //.
by rewrite ler_wpmul2r ?sqr_ge0 // ler_pemull ?ler0n.
Qed.

Lemma frobenius_features : sq G = n%:R * N%:R.
Proof.
rewrite sq_columns (eq_bigr (fun _ => N%:R)) => [|k _]; last by rewrite colE sq_feature.
by rewrite sumr_const card_ord mulr_natl.
Qed.
End Normalized.

Theorem norm_by_correlations (R : rcfType) N n (H : 'M[R]_(N, n)) lambda s :
  (0 < N)%N -> (0 < n)%N -> no_constant_feature H -> at_least_eigenvalues (correlations H) lambda ->
  largest_singular_value (own_normalized H) s -> s ^+ 2 <= N%:R * lambda.
Proof.
move=> N0 n0 spread high norm; have [l1 bound] := correlations_bound N0 spread high n0.
exact: (norm_le_features N0 spread norm l1 bound).
Qed.

Theorem norm_at_most (R : rcfType) N n (H : 'M[R]_(N, n)) s :
  (0 < N)%N -> (0 < n)%N -> no_constant_feature H ->
  largest_singular_value (own_normalized H) s -> s ^+ 2 <= N%:R * n%:R.
Proof.
move=> N0 n0 spread norm; apply: (norm_le_features N0 spread norm) => [|x]; first by rewrite ler1n.
have unit_features k : (const_mx 1 : 'rV[R]_n) 0 k ^+ 2 * sq (col k (own_features H)) = N%:R.
  by rewrite mxE expr1n mul1r colE sq_feature.
by have := equal_above unit_features x; rewrite diag_const_mx mulmx1.
Qed.

(* Of N directions the features have none along the ones. *)
Theorem norm_at_least (R : rcfType) N n (H : 'M[R]_(N, n)) s :
  (0 < N)%N -> no_constant_feature H ->
  largest_singular_value (own_normalized H) s -> N%:R * n%:R <= (N%:R - 1) * s ^+ 2.
Proof.
case: N H => // N H N0 spread norm; pose G := own_features H.
have GE : own_normalized H = augmented G by apply: GhatE.
have orthogonal : G^T *m e N.+1 = 0 by apply: normalized_orthogonal.
have above (u : 'cV_(1 + N)) : sq (G^T *m u) <= s ^+ 2 * sq u.
  apply: le_trans (norm_transpose norm u); rewrite GE /augmented tr_row_mx mul_col_mx sq_col_mx.
  by rewrite ler_addr sq_ge0.
have [Q [o Qe]] : exists Q : 'M[R]_(1 + N),
    Q^T *m Q = 1%:M /\ Q *m delta_mx 0 0 = (Num.sqrt N.+1%:R)^-1 *: e N.+1.
  apply: reflection; rewrite sqZ sq_e exprVn sqr_sqrtr ?ler0n // mulVf //.
  by rewrite pnatr_eq0.
have QQ : Q *m Q^T = 1%:M by apply: mulmx1C.
have -> : N.+1%:R * n%:R = sq (G^T *m Q).
  rewrite mulrC -(frobenius_features N0 spread) -/G -[G^T *m Q]trmxK sq_transpose.
  by rewrite trmx_mul trmxK sq_orthogonal ?trmxK.
rewrite sq_columns big_ord_recl colE -mulmxA Qe -scalemxAr orthogonal scaler0 sq0 add0r.
have -> : (N.+1%:R - 1) * s ^+ 2 = \sum_(i < N) s ^+ 2.
  by rewrite sumr_const card_ord mulrSr addrK mulr_natl.
apply: ler_sum => i _; rewrite colE -mulmxA.
by apply: le_trans (above _) _; rewrite sq_orthogonal // sq_delta mulr1.
Qed.

(* Over q^2 = max(n/N, 1): bounded by N n, not by N. *)
Theorem norm_over_q_corrected (R : rcfType) N n (H : 'M[R]_(N, n)) s :
  let q2 := Num.max (n%:R / N%:R) 1 in
  (0 < N)%N -> (0 < n)%N -> no_constant_feature H ->
  largest_singular_value (own_normalized H) s -> 1 / q2 * s ^+ 2 <= N%:R * Num.min N%:R n%:R.
Proof.
move=> q2 N0 n0 spread norm; have NR := NR_gt0 R N0.
have q0 : 0 < q2 by rewrite lt_maxr ltr01 orbT.
rewrite mul1r mulrC ler_pdivr_mulr //; apply: le_trans (norm_at_most N0 n0 spread norm) _.
rewrite -mulrA ler_pmul2l // /q2; case: (lerP N%:R n%:R) => [le|lt].
  by rewrite [Num.max _ _]max_l ?ler_pdivl_mulr ?mul1r // mulrC divfK ?gt_eqF.
by rewrite [Num.max _ _]max_r ?mulr1 // ler_pdivr_mulr // mul1r ltW.
Qed.

Theorem normalized_mean_square (R : rcfType) N n (H : 'M[R]_(N, n)) :
  (0 < N)%N -> (0 < n)%N -> no_constant_feature H ->
  1 / (n%:R * N%:R) * sq (own_features H) = 1.
Proof.
move=> N0 n0 spread; rewrite frobenius_features // div1r mulVf // mulf_neq0 // pnatr_eq0 -lt0n //.
Qed.
