(* Theorem 4, the scaling: kappa(Ghat) <= sqrt(n + 1) kappa(Hhat U D_0), D_0 nonsingular diagonal.

   All columns of Ghat = Hhat U D have the norm root N, so it is Lemma A1; but the column of ones is
   orthogonal to the others and free: the factor is root n, and the root of the largest eigenvalue
   of the features' correlations R = G'G/N, at any rank as long as no feature is constant.

   With D_0 = I and the centring it follows that kappa(Ghat)^2 <= lambda_max(R) kappa(Hhat)^2,
   without the factor for up to two features; and the text's remarks on the chain of inequalities
   and on Property A, two blocks of mutually uncorrelated features. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_centring lemma_a1.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).

(* The batch's own U, D, G, Ghat and correlation matrix R. *)
Definition own_centring := centring (mean H).
Definition own_scaling := scaling (deviation H).
Definition own_features := features H (mean H) (deviation H).
Definition own_normalized := augmented H *m own_centring *m own_scaling.
Definition correlations : 'M[R]_n := N%:R^-1 *: (own_features^T *m own_features).

Definition no_constant_feature := forall k, 0 < variance H k 0.
End Definitions.

Section Scaling.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).
Hypothesis N_gt0 : (0 < N)%N.
Hypothesis spread : no_constant_feature H.
Local Notation Hhat := (augmented H).
Local Notation U := (own_centring H).
Local Notation D := (own_scaling H).
Local Notation G := (own_features H).
Local Notation Ghat := (own_normalized H).
Local Notation C := (centred H (mean H)).
Local Notation d := (scales (deviation H)).

Lemma deviations k : deviation H k 0 != 0.
Proof. by rewrite deviation_neq0. Qed.
Lemma D_diagonal : D = diag_mx d.
Proof. exact: scaling_diagonal deviations. Qed.
Lemma GhatE : Ghat = augmented G.
Proof. by rewrite /own_normalized -mulmxA; exact: augmented_preconditioner deviations. Qed.

Lemma columns_equal i : d 0 i ^+ 2 * sq (col i (Hhat *m U)) = N%:R.
Proof.
rewrite augmented_centring; case: (split_ordP i) => k ->.
  rewrite colKl row_mxEl mxE expr1n mul1r.
  have -> : col k (e N) = e N :> 'cV[R]_N by apply/matrixP => a b; rewrite !mxE.
  exact: sq_e.
rewrite colKr row_mxEr mxE exprVn deviation_square // variance_centred //.
have s0 : sq (col k C) != 0.
  have := spread k; rewrite variance_centred // pmulr_rgt0 ?invr_gt0 ?NR_gt0 //.
  by rewrite lt_def => /andP[].
by rewrite invfM invrK -mulrA mulVf ?mulr1.
Qed.

Lemma sq_normalized t x : sq (Ghat *m stack t x) = N%:R * t ^+ 2 + sq (G *m x).
Proof.
rewrite /own_normalized -mulmxA D_diagonal /scales diag_mx_row.
rewrite mul_block_col !mul0mx addr0 add0r.
have -> : diag_mx (const_mx 1) *m t%:M = t%:M :> 'M[R]_1.
  by apply/matrixP => i j; rewrite mul_diag_mx !mxE mul1r.
by rewrite -/(stack _ _) block_diagonal // mulmxA -features_centred.
Qed.

Lemma sq_feature (k : 'I_n) : sq (G *m (delta_mx k 0 : 'cV_n)) = N%:R.
Proof.
have := columns_equal (rshift 1 k).
rewrite augmented_centring colKr row_mxEr mxE => <-.
rewrite /own_features features_centred -mulmxA -colE.
have -> : col k (diag_mx (\row_k0 (deviation H k0 0)^-1)) = (deviation H k 0)^-1 *: delta_mx k 0.
  apply/matrixP => i j; rewrite !mxE !ord1 eqxx andbT eq_sym.
  by case: eqP => [->|_]; rewrite ?mulr1 ?mulr1n // mulr0.
by rewrite -scalemxAr sqZ -colE.
Qed.

(* The largest eigenvalue of R is at least one, and at most n. *)
Lemma correlations_bound lambda : at_least_eigenvalues (correlations H) lambda ->
  (0 < n)%N -> 1 <= lambda /\ forall x : 'cV_n, sq (G *m x) <= lambda * N%:R * sq x.
Proof.
move=> high n0; have NR : 0 < N%:R :> R by apply: NR_gt0.
have gram l y : eigenvector (G^T *m G) l y -> l <= lambda * N%:R.
  move=> [y0 Gy]; rewrite mulrC -ler_pdivr_mull //; apply: (high _ y).
  by split=> //; rewrite -scalemxAl Gy scalerA.
have k := Ordinal n0; have bound : forall x : 'cV_n, 0 <= lambda * N%:R ->
    sq (G *m x) <= lambda * N%:R * sq x.
  by move=> x l0; apply: quotients_at_least.
have [Q [f [_ _ _ _ eig]]] := in_eigenbasis (gram_symmetric G).
have l0 : 0 <= lambda * N%:R.
  apply: le_trans (gram _ _ (eig k)); apply: eigenvalue_ge0 (eig k) => z.
  by rewrite gram_form sq_ge0.
split; last by move=> x; apply: bound.
have := bound (delta_mx k 0) l0; rewrite sq_feature sq_delta mulr1.
by rewrite -[X in X <= _]mul1r ler_pmul2r.
Qed.

Lemma normalized_above lambda : 1 <= lambda ->
  (forall x : 'cV_n, sq (G *m x) <= lambda * N%:R * sq x) ->
  forall z : 'cV_(1 + n), sq (Hhat *m U *m diag_mx d *m z) <= lambda * N%:R * sq z.
Proof.
move=> l1 high z; have [t [x ->]] := stackE z.
rewrite -D_diagonal sq_normalized sq_stack mulrDr ler_add //.
by rewrite ler_wpmul2r ?sqr_ge0 // ler_pemull ?ler0n.
Qed.

Variables (d0 : 'rV[R]_(1 + n)) (K K0 : R).
Hypothesis nz : nonzero d0.
Hypothesis normalized_K : condition_number Ghat K.
Hypothesis other_K : condition_number (Hhat *m U *m diag_mx d0) K0.

Lemma scaled_by lambda : 1 <= lambda ->
  (forall x : 'cV_n, sq (G *m x) <= lambda * N%:R * sq x) -> K ^+ 2 <= lambda * K0 ^+ 2.
Proof.
move=> l1 high; have kD := normalized_K; rewrite /own_normalized D_diagonal in kD.
have := equal_columns (NR_gt0 R N_gt0) columns_equal nz _ (normalized_above l1 high) kD other_K.
by apply; apply: le_trans l1; apply: ler01.
Qed.

Lemma scaled_by_correlation lambda : (0 < n)%N ->
  at_least_eigenvalues (correlations H) lambda -> K ^+ 2 <= lambda * K0 ^+ 2.
Proof. by move=> n0 /correlations_bound/(_ n0)[l1 high]; apply: scaled_by. Qed.

Lemma scaled_by_features : (0 < n)%N -> K ^+ 2 <= n%:R * K0 ^+ 2.
Proof.
move=> n0; apply: scaled_by => [|x]; first by rewrite ler1n.
have unit_features k : (const_mx 1 : 'rV[R]_n) 0 k ^+ 2 * sq (col k G) = N%:R.
  by rewrite mxE expr1n mul1r colE sq_feature.
by have := equal_above unit_features x; rewrite diag_const_mx mulmx1.
Qed.

Lemma scaled_by_columns : K ^+ 2 <= n.+1%:R * K0 ^+ 2.
Proof.
apply: scaled_by => [|x]; first by rewrite ler1n.
have unit_features k : (const_mx 1 : 'rV[R]_n) 0 k ^+ 2 * sq (col k G) = N%:R.
  by rewrite mxE expr1n mul1r colE sq_feature.
have := equal_above unit_features x; rewrite diag_const_mx mulmx1 => high.
apply: le_trans high _; rewrite ler_wpmul2r ?sq_ge0 // ler_wpmul2r ?ler0n //.
by rewrite ler_nat.
Qed.
End Scaling.

Section FullRank.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).
Hypothesis N_gt0 : (0 < N)%N.
Hypothesis full : full_column_rank (augmented H).
Local Notation U := (own_centring H).
Local Notation C := (centred H (mean H)).
Local Notation G := (own_features H).

Lemma full_rank_spread : no_constant_feature H.
Proof.
move=> k; rewrite variance_centred // pmulr_rgt0 ?invr_gt0 ?NR_gt0 // sq_gt0.
apply/negP => /eqP; rewrite colE => /(full_rank_centred full)/matrixP/(_ k 0).
by rewrite !mxE !eqxx => /eqP; rewrite oner_eq0.
Qed.

Lemma full_rank_features (x : 'cV_n) : G *m x = 0 -> x = 0.
Proof.
rewrite /own_features features_centred -mulmxA => /(full_rank_centred full) z.
apply/matrixP => i j; rewrite !ord1 [RHS]mxE.
apply: (mulfI (invr_neq0 (deviations full_rank_spread i))); rewrite mulr0.
have := congr1 (fun v : 'cV_n => v i 0) z; rewrite diag_mul [RHS]mxE => <-.
by rewrite [X in _ = X * _]mxE.
Qed.

Lemma full_rank_centring : full_column_rank (augmented H *m U).
Proof.
apply/full_column_rankP => z; have [t [x ->]] := stackE z => z0.
have := block_diagonal H N_gt0 t x; rewrite z0 sq0 => /esym/eqP.
have Nt : 0 <= N%:R * t ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
rewrite (paddr_eq0 Nt (sq_ge0 _)) mulf_eq0 (negbTE (NR_neq0 R N_gt0)) /= sqrf_eq0 sq_eq0 =>
  /andP[/eqP -> /eqP /(full_rank_centred full) ->].
by rewrite /stack raddf0 col_mx0.
Qed.

(* The column of ones is free: kappa(Ghat) = kappa(G). *)
Lemma same_without_bias K L :
  condition_number (own_normalized H) K -> condition_number G L -> K = L.
Proof.
move=> kK kL; have K0 := ltW (condition_number_gt0 kK); have L0 := ltW (condition_number_gt0 kL).
have spread := full_rank_spread; apply/le_anti/andP; split.
  have [a [b [a0 b0 bE within]]] := condition_number_quotients kL.
  have all (x : 'cV_n) : a * sq x <= sq (G *m x) <= b * sq x.
    by apply: within => y /full_rank_features ->; rewrite dot0r.
  have n0 : (0 < n)%N.
    have [s [t [[[_ [x [x0 _]]] _] _ _]]] := kL; case: (posnP n) x0 => // n0; case/negP.
    by apply/eqP/matrixP => i; exfalso; have := ltn_ord i; rewrite [X in (_ < X)%N]n0.
  have := all (delta_mx (Ordinal n0) 0); rewrite sq_feature // sq_delta !mulr1 => /andP[aN Nb].
  apply/(condition_numberP kK L0); exists a, b; split=> //; first by rewrite bE.
  move=> z _; have [t [x ->]] := stackE z; rewrite sq_normalized // sq_stack !mulrDr.
  have /andP[lo hi] := all x.
  by rewrite !ler_add // ler_wpmul2r ?sqr_ge0.
have [a [b [a0 b0 bE within]]] := condition_number_quotients kK.
apply/(condition_numberP kL K0); exists a, b; split=> //; first by rewrite bE.
move=> x _; have := within (stack 0 x).
rewrite sq_normalized // sq_stack expr0n mulr0 !add0r; apply => z; have [t [y ->]] := stackE z.
have Nt : 0 <= N%:R * t ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
move/eqP; rewrite -sq_eq0 sq_normalized // (paddr_eq0 Nt (sq_ge0 _)).
by rewrite sq_eq0 => /andP[_ /eqP /full_rank_features ->]; rewrite dot_stack mul0r dot0r addr0.
Qed.

(* Property A of the features is Property A with the column of ones. *)
Lemma property_A_centring p : property_A C p ->
  property_A (augmented H *m U) (fun i => if split i is inr k then p k else false).
Proof.
move=> PA i j; rewrite augmented_centring; have ones k : dot (e N) (col k C) = 0.
  by rewrite colE dot_e_centred.
have e1 k : col k (e N) = e N :> 'cV[R]_N by apply/matrixP => a b; rewrite !mxE.
case: (split_ordP i) => k ->; case: (split_ordP j) => l ->; rewrite ?colKl ?colKr ?e1.
- by rewrite !ord1 eqxx.
- by rewrite ones.
- by rewrite dotC ones.
by rewrite eq_shift; apply: PA.
Qed.
End FullRank.

(* Theorem 4, second display, for every nonsingular diagonal D_0. *)
Theorem theorem_4c (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) d0 K K0 :
  let Hhat := augmented H in let U := own_centring H in let Ghat := own_normalized H in
  (0 < N)%N -> full_column_rank Hhat -> nonzero d0 ->
  condition_number Ghat K -> condition_number (Hhat *m U *m diag_mx d0) K0 ->
  K <= Num.sqrt n.+1%:R * K0.
Proof.
move=> Hhat U Ghat N0 full nz kK k0; have K0p := ltW (condition_number_gt0 k0).
have Kp := ltW (condition_number_gt0 kK).
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?sqrtr_ge0 // exprMn sqr_sqrtr ?ler0n //.
exact: (scaled_by_columns N0 (full_rank_spread N0 full) nz kK k0).
Qed.

(* Sharper: the column of ones is not counted, and full rank is not needed. *)
Theorem theorem_4c_sqrt_n (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) d0 K K0 :
  let Hhat := augmented H in let U := own_centring H in let Ghat := own_normalized H in
  (0 < N)%N -> (0 < n)%N -> no_constant_feature H -> nonzero d0 ->
  condition_number Ghat K -> condition_number (Hhat *m U *m diag_mx d0) K0 ->
  K <= Num.sqrt n%:R * K0.
Proof.
move=> Hhat U Ghat N0 n0 spread nz kK k0; have K0p := ltW (condition_number_gt0 k0).
have Kp := ltW (condition_number_gt0 kK).
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?sqrtr_ge0 // exprMn sqr_sqrtr ?ler0n //.
exact: (scaled_by_features N0 spread nz kK k0 n0).
Qed.

(* Sharper still: the largest eigenvalue of the correlations, or what is at least that. *)
Theorem theorem_4c_by_correlation (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) d0 lambda K K0 :
  let Hhat := augmented H in let U := own_centring H in let Ghat := own_normalized H in
  (0 < N)%N -> (0 < n)%N -> no_constant_feature H -> nonzero d0 ->
  at_least_eigenvalues (correlations H) lambda ->
  condition_number Ghat K -> condition_number (Hhat *m U *m diag_mx d0) K0 ->
  K ^+ 2 <= lambda * K0 ^+ 2.
Proof.
move=> Hhat U Ghat N0 n0 spread nz high kK k0.
exact: (scaled_by_correlation N0 spread nz kK k0 n0 high).
Qed.

(* The column of ones does not matter. *)
Theorem theorem_4c_free_bias (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) K L :
  (0 < N)%N -> full_column_rank (augmented H) ->
  condition_number (own_normalized H) K -> condition_number (own_features H) L -> K = L.
Proof. by move=> N0 full kK kL; exact: (same_without_bias N0 full kK kL). Qed.

(* "Improves the conditioning": up to the largest eigenvalue of the correlations, ... *)
Theorem theorem_4_improves_corrected (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) lambda K K' :
  (0 < N)%N -> (0 < n)%N -> full_column_rank (augmented H) ->
  at_least_eigenvalues (correlations H) lambda ->
  condition_number (augmented H) K -> condition_number (own_normalized H) K' ->
  K' ^+ 2 <= lambda * K ^+ 2.
Proof.
move=> N0 n0 full high kH kG; have spread := full_rank_spread N0 full.
have [|M kM] := @condition_number_exists _ _ _ (augmented H *m own_centring H).
  rewrite augmented_centring row_mx_eq0 negb_and; apply/orP; left.
  by rewrite -sq_gt0 sq_e NR_gt0.
have kM1 : condition_number (augmented H *m own_centring H *m diag_mx (const_mx 1)) M.
  by rewrite diag_const_mx mulmx1.
have nz : nonzero (const_mx 1 : 'rV[R]_(1 + n)) by move=> i; rewrite mxE oner_neq0.
apply: le_trans (scaled_by_correlation N0 spread nz kG kM1 n0 high) _.
have [l1 _] := correlations_bound N0 spread high n0; have l0 := le_trans ler01 l1.
rewrite ler_wpmul2l // ler_sqr ?nnegrE ?(ltW (condition_number_gt0 kM)) //; last first.
  exact: ltW (condition_number_gt0 kH).
exact: theorem_4a N0 full kH kM.
Qed.

(* Under Property A the scaling by D is optimal, *)
Theorem theorem_4_property_A (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) p d0 K K0 :
  let Hhat := augmented H in let U := own_centring H in let Ghat := own_normalized H in
  (0 < N)%N -> full_column_rank Hhat -> property_A (centred H (mean H)) p -> nonzero d0 ->
  condition_number Ghat K -> condition_number (Hhat *m U *m diag_mx d0) K0 -> K <= K0.
Proof.
move=> Hhat U Ghat N0 full PA nz kK k0; have spread := full_rank_spread N0 full.
rewrite /Ghat /own_normalized D_diagonal // in kK.
exact: (property_A_optimal (NR_gt0 R N0) (columns_equal N0 spread) nz
  (full_rank_centring N0 full) (property_A_centring N0 PA) kK k0).
Qed.

(* as it is for up to two features, where the normalization improves without a factor. *)
Theorem theorem_4_improves_two_features (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) K K' :
  (0 < N)%N -> (n <= 2)%N -> full_column_rank (augmented H) ->
  condition_number (augmented H) K -> condition_number (own_normalized H) K' -> K' <= K.
Proof.
move=> N0 n2 full kH kG.
have [|M kM] := @condition_number_exists _ _ _ (augmented H *m own_centring H).
  rewrite augmented_centring row_mx_eq0 negb_and; apply/orP; left.
  by rewrite -sq_gt0 sq_e NR_gt0.
have kM1 : condition_number (augmented H *m own_centring H *m diag_mx (const_mx 1)) M.
  by rewrite diag_const_mx mulmx1.
have nz : nonzero (const_mx 1 : 'rV[R]_(1 + n)) by move=> i; rewrite mxE oner_neq0.
apply: le_trans (theorem_4a N0 full kH kM).
exact: (theorem_4_property_A N0 full (two_columns_property_A _ n2) nz kG kM1).
Qed.

Lemma own_scaling_nonsingular (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) :
  (0 < N)%N -> no_constant_feature H -> own_scaling H \in unitmx.
Proof.
move=> N0 spread; rewrite D_diagonal // unitmxE det_diag unitfE; apply/prodf_neq0 => i _.
case: (split_ordP i) => k ->; rewrite ?row_mxEl ?row_mxEr mxE ?oner_neq0 // invr_neq0 //.
exact: deviations.
Qed.
Lemma nonsingular_neq0 (R : rcfType) n (B : 'M[R]_(1 + n)) : B \in unitmx -> B != 0.
Proof.
move=> unit; apply/eqP => z; have := mulmxV unit; rewrite z mul0mx => /matrixP/(_ 0 0)/esym/eqP.
by rewrite !mxE eqxx oner_eq0.
Qed.

(* The text's chain: kappa(Hhat U) <= kappa(Hhat U D) kappa(D), no feature being constant. *)
Theorem theorem_4_chain (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) K K' L :
  (0 < N)%N -> no_constant_feature H ->
  condition_number (augmented H *m own_centring H) K ->
  condition_number (own_normalized H) K' -> condition_number (own_scaling H) L -> K <= K' * L.
Proof.
move=> N0 spread kU kG kD; have unit := own_scaling_nonsingular N0 spread.
have unit' : invmx (own_scaling H) \in unitmx by rewrite unitmx_inv.
have [M kM] := condition_number_exists (nonsingular_neq0 unit').
have UE : augmented H *m own_centring H = own_normalized H *m invmx (own_scaling H).
  by rewrite mulmxK.
rewrite UE in kU; apply: le_trans (condition_number_product unit' kG kM kU) _.
rewrite ler_wpmul2l ?(ltW (condition_number_gt0 kG)) //.
exact: (condition_number_inverse unit kD kM).
Qed.

Theorem theorem_4_chain_end (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) d0 K K0 L :
  (0 < N)%N -> no_constant_feature H -> nonzero d0 ->
  condition_number (augmented H *m own_centring H) K -> condition_number (own_scaling H) L ->
  condition_number (augmented H *m own_centring H *m diag_mx d0) K0 ->
  K <= L * Num.sqrt n.+1%:R * K0.
Proof.
move=> N0 spread nz kU kD k0.
have [|K' kG] := @condition_number_exists _ _ _ (own_normalized H).
  rewrite GhatE // row_mx_eq0 negb_and; apply/orP; left.
  by rewrite -sq_gt0 sq_e NR_gt0.
apply: le_trans (theorem_4_chain N0 spread kU kG kD) _.
have L0 := ltW (condition_number_gt0 kD); rewrite mulrC -mulrA ler_wpmul2l //.
have K0p := ltW (condition_number_gt0 k0); have Kp := ltW (condition_number_gt0 kG).
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?sqrtr_ge0 // exprMn sqr_sqrtr ?ler0n //.
exact: (scaled_by_columns N0 spread nz kG k0).
Qed.
