(* Theorem 4, where its inequalities are attained.

   For n copies of one feature the factor root n of the scaling is: the squares of Ghat's nonzero
   singular values are N and n N, and with the scaling 1/(root n sigma_H) all are N.  For
   uncorrelated features Ghat'Ghat = N I, so that kappa(Hhat U) is all of kappa(D). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_centring lemma_a1 theorem_4_scaling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).

Definition all_copies_of_one := forall j k l, H j k = H j l.
(* C'C is diagonal, the features being centred. *)
Definition uncorrelated := forall k l, k != l ->
  dot (col k (centred H (mean H))) (col l (centred H (mean H))) = 0.

(* diag (1, 1/(root n sigma_H)) *)
Definition copies_scaling : 'rV[R]_(1 + n) :=
  row_mx (const_mx 1) (\row_k (Num.sqrt n%:R * deviation H k 0)^-1).
End Definitions.

Section Tight.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).
Hypothesis N_gt0 : (0 < N)%N.
Hypothesis spread : no_constant_feature H.
Local Notation Hhat := (augmented H).
Local Notation U := (own_centring H).
Local Notation D := (own_scaling H).
Local Notation G := (own_features H).
Local Notation Ghat := (own_normalized H).
Let k0 : 0 < N%:R :> R := NR_gt0 R N_gt0.

(* ---- copies of one feature ---- *)

Section Copies.
Hypothesis copies : all_copies_of_one H.

Lemma copies_features j k l : G j k = G j l.
Proof.
have mE : mean H k 0 = mean H l 0.
  by rewrite !meanE; congr (_ * _); apply: eq_bigr => i _; apply: copies.
have vE : variance H k 0 = variance H l 0.
  rewrite [LHS]mxE [RHS]mxE mE; congr (_ * _); apply: eq_bigr => i _.
  by rewrite (copies i k l).
have dE : deviation H k 0 = deviation H l 0 by rewrite mxE vE [RHS]mxE.
by rewrite mxE dE mE (copies j k l) [RHS]mxE.
Qed.

Lemma sq_copies (x : 'cV_n) : sq (G *m x) = N%:R * (\sum_k x k 0) ^+ 2.
Proof.
case: (posnP n) => [n0|n0].
  rewrite big1 => [|k _]; last by exfalso; have := ltn_ord k; rewrite [X in (_ < X)%N]n0.
  rewrite expr0n mulr0 [x](_ : _ = 0) ?mulmx0 ?sq0 //.
  by apply/matrixP => k; exfalso; have := ltn_ord k; rewrite [X in (_ < X)%N]n0.
have -> : G *m x = (\sum_k x k 0) *: col (Ordinal n0) G.
  apply/matrixP => j i; rewrite !ord1 mxE [RHS]mxE [X in _ * X]mxE big_distrl.
  by apply: eq_bigr => k _; rewrite mulrC (copies_features j k (Ordinal n0)).
by rewrite sqZ colE sq_feature // mulrC.
Qed.

Lemma sq_copies_scaled t (x : 'cV_n) : (0 < n)%N ->
  sq (Hhat *m U *m diag_mx (copies_scaling H) *m stack t x) =
  N%:R * (t ^+ 2 + (\sum_k x k 0) ^+ 2 / n%:R).
Proof.
move=> n0; pose s : R := Num.sqrt n%:R.
have -> : Hhat *m U *m diag_mx (copies_scaling H) *m stack t x = Ghat *m stack t (s^-1 *: x).
  rewrite /own_normalized -!mulmxA; congr (_ *m (_ *m _)); rewrite D_diagonal //.
  apply/matrixP => i j; rewrite !ord1 !diag_mul; case: (split_ordP i) => k ->.
    by rewrite /copies_scaling /scales /stack !row_mxEl !col_mxEu.
  rewrite /copies_scaling /scales /stack !row_mxEr !col_mxEd !mxE invfM -/s.
  by rewrite [RHS]mulrA; congr (_ * _); exact: mulrC.
rewrite sq_normalized // sq_copies.
have -> : \sum_k (s^-1 *: x) k 0 = s^-1 * \sum_k x k 0.
  by rewrite big_distrr; apply: eq_bigr => k _; rewrite mxE.
by rewrite exprMn exprVn sqr_sqrtr ?ler0n // mulrDr [_^-1 * _]mulrC.
Qed.

Lemma copies_attain K K0 : condition_number Ghat K ->
  condition_number (Hhat *m U *m diag_mx (copies_scaling H)) K0 -> n%:R * K0 ^+ 2 <= K ^+ 2.
Proof.
move=> kK kK0; case: (posnP n) => [n0|n0]; first by rewrite [X in X%:R]n0 mul0r sqr_ge0.
have nR : 0 < n%:R :> R by rewrite ltr0n.
apply: le_trans (_ : n%:R <= _).
  rewrite ger_pmulr // -(ler_pmul2r k0) mul1r; apply: condition_number_le kK0 k0 _.
  move=> z; have [t [x ->]] := stackE z => oz; rewrite sq_copies_scaled // sq_stack.
  suff -> : sq x = (\sum_k x k 0) ^+ 2 / n%:R by rewrite lexx.
  set S := \sum_k _; have := oz (stack 0 (x - (S / n%:R) *: e n)); rewrite dot_stack mulr0 add0r.
  have dS : dot x (e n) = S by rewrite dot_column; apply: eq_bigr => k _; rewrite mxE mulr1.
  rewrite dotBr dotZr dS => zero; apply/eqP; rewrite -subr_eq0 mulrAC -expr2 in zero *.
  apply/eqP/zero/eqP; rewrite -sq_eq0 sq_copies_scaled // expr0n add0r.
  have -> : \sum_k (x - (S / n%:R) *: e n) k 0 = 0.
    under eq_bigr do rewrite !mxE mulr1.
    by rewrite sumrB sumr_const card_ord -/S -[(S / n%:R) *+ n]mulr_natr divfK ?subrr // gt_eqF.
  by rewrite expr0n mul0r mulr0.
have [a [b [a0 b0 bE within]]] := condition_number_quotients kK.
have aN : a <= N%:R.
  have ones : orthogonal_to_null Ghat (stack 1 0).
    move=> y; have [t [x ->]] := stackE y; rewrite dot_stack dot0l addr0 mul1r => /eqP.
    have kt : 0 <= N%:R * t ^+ 2 by rewrite mulr_ge0 ?sqr_ge0 // ltW.
    rewrite -sq_eq0 sq_normalized // (paddr_eq0 kt (sq_ge0 _)) mulf_eq0 gt_eqF //= sqrf_eq0.
    by move=> /andP[/eqP].
  have /andP[+ _] := within _ ones.
  by rewrite sq_normalized // sq_stack mulmx0 !sq0 !addr0 !expr1n !mulr1.
have := quotients_above (ltW b0) within (stack 0 (e n)); rewrite sq_normalized // sq_copies.
have -> : \sum_k (e n : 'cV[R]_n) k 0 = n%:R.
  by under eq_bigr do rewrite mxE; rewrite sumr_const card_ord.
rewrite sq_stack expr0n mulr0 !add0r sq_e expr2 mulrA ler_pmul2r // bE => le.
rewrite -(ler_pmul2r k0) mulrC; apply: le_trans le _.
by rewrite ler_wpmul2l ?sqr_ge0.
Qed.
End Copies.

(* ---- uncorrelated features ---- *)

Section Uncorrelated.
Hypothesis apart : uncorrelated H.

Lemma sq_uncorrelated (x : 'cV_n) : sq (G *m x) = N%:R * sq x.
Proof.
rewrite -gram_form (_ : G^T *m G = N%:R%:M) ?mul_scalar_mx ?dotZr //.
apply/matrixP => k l; have -> : (G^T *m G) k l = dot (col k G) (col l G).
  by rewrite mxE dot_column; apply: eq_bigr => j _; rewrite !mxE.
rewrite mxE; have [->|kl] := eqVneq k l; first by rewrite mulr1n -/(sq _) colE sq_feature.
have column i : col i G = (deviation H i 0)^-1 *: col i (centred H (mean H)).
  by rewrite /own_features features_centred colE diag_column; congr (_ *: _); rewrite mxE.
by rewrite !column dotZl dotZr apart // !mulr0.
Qed.

Lemma uncorrelated_attain K L :
  condition_number (Hhat *m U) K -> condition_number D L -> L ^+ 2 <= K ^+ 2.
Proof.
move=> kU kD; have unit := own_scaling_nonsingular N_gt0 spread.
have same (z : 'cV_(1 + n)) : sq (Hhat *m U *m (D *m z)) = N%:R * sq z.
  have [t [x ->]] := stackE z; rewrite mulmxA -/(own_normalized H) sq_normalized //.
  by rewrite sq_uncorrelated sq_stack mulrDr.
have onto (z : 'cV_(1 + n)) : exists w, z = D *m w by exists (invmx D *m z); rewrite mulKVmx.
have null z : orthogonal_to_null (Hhat *m U) z.
  move=> y; have [w ->] := onto y => /eqP; rewrite -sq_eq0 same mulf_eq0 gt_eqF //= sq_eq0.
  by move=> /eqP ->; rewrite mulmx0 dot0r.
have [a [b [a0 b0 bE within]]] := condition_number_quotients kU.
have Nb : 0 < N%:R / b by rewrite divr_gt0.
have inside : quotients_within D (N%:R / b) (N%:R / a).
  move=> z _; have := within _ (null (D *m z)); rewrite same => /andP[lo hi].
  rewrite mulrAC ler_pdivr_mulr // [sq _ * b]mulrC hi.
  by rewrite mulrAC ler_pdivl_mulr // [sq _ * a]mulrC.
have -> : K ^+ 2 = N%:R / a / (N%:R / b).
  have -> : K ^+ 2 = b / a by rewrite bE mulfK // gt_eqF.
  by field; rewrite !gt_eqF.
by rewrite ler_pdivl_mulr //; apply: condition_number_le kD Nb inside.
Qed.
End Uncorrelated.
End Tight.

(* For n copies of one feature, which is not constant, the factor root n is attained. *)
Theorem theorem_4c_tight (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) K K0 :
  let Hhat := augmented H in let U := own_centring H in let Ghat := own_normalized H in
  (0 < N)%N -> all_copies_of_one H -> no_constant_feature H ->
  condition_number Ghat K ->
  condition_number (Hhat *m U *m diag_mx (copies_scaling H)) K0 ->
  n%:R * K0 ^+ 2 <= K ^+ 2.
Proof. by move=> Hhat U Ghat N0 copies spread; exact: copies_attain. Qed.

(* For uncorrelated features all of kappa(D) is gained. *)
Theorem theorem_4_tight (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) K L :
  (0 < N)%N -> uncorrelated H -> no_constant_feature H ->
  condition_number (augmented H *m own_centring H) K -> condition_number (own_scaling H) L ->
  L ^+ 2 <= K ^+ 2.
Proof. by move=> N0 apart spread; exact: uncorrelated_attain. Qed.
