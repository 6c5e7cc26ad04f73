(* Theorem 3: with w = P z the preconditioned Hessian is P' (Hhat' S Hhat) P = Ghat' S Ghat,
   Ghat = Hhat P being the normalized features beside the column of ones (14).

   It holds for any means and any deviations that are not zero, as Algorithm 2 takes them; that the
   features have mean zero and variance one holds for the batch's own, no feature being constant. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct Preconditioning Differentiation.
From BatchNorm.lange2022 Require Import proposition_2.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* Equation (14): Hhat P = [e, G], row by row (h_j - mu)/s. *)
Theorem equation_14 (R : rcfType) N n (H : 'M[R]_(N, n)) (mu s : 'cV[R]_n) :
  (forall k, s k 0 != 0) -> augmented H *m preconditioner mu s = normalized H mu s.
Proof. by move=> s0; rewrite augmented_preconditioner. Qed.

(* For any statistics. *)
Theorem theorem_3_any_statistics (R : rcfType) N n (H : 'M[R]_(N, n)) (L : 'I_N -> R -> R)
    (mu s : 'cV[R]_n) (z : 'cV[R]_(1 + n)) (L2 : 'I_N -> R) :
  let Hhat := augmented H in let P := preconditioner mu s in let Ghat := normalized H mu s in
  (forall k, s k 0 != 0) ->
  (forall j, second_derivative (L j) ((Hhat *m (P *m z)) j 0) (L2 j)) ->
  is_hessian (fun z => mean_loss L (Hhat *m (P *m z))) z (Ghat^T *m curvature L2 *m Ghat)
  /\ P^T *m (Hhat^T *m curvature L2 *m Hhat) *m P = Ghat^T *m curvature L2 *m Ghat.
Proof.
move=> Hhat P Ghat s0 each; have PE : Hhat *m P = Ghat by apply: equation_14.
split; last by rewrite -PE (trmx_mul Hhat P) !mulmxA.
apply: (@hessian_ext _ _ (fun z => mean_loss L (Ghat *m z))) => [v|]; first by rewrite -PE mulmxA.
by apply: mean_loss_hessian => j; rewrite -PE -mulmxA.
Qed.

(* Theorem 3 as printed, with the batch's own statistics. *)
Theorem theorem_3 (R : rcfType) N n (H : 'M[R]_(N, n)) (L : 'I_N -> R -> R) (z : 'cV[R]_(1 + n))
    (L2 : 'I_N -> R) :
  let Hhat := augmented H in let P := preconditioner (mean H) (deviation H) in
  let Ghat := normalized H (mean H) (deviation H) in
  (0 < N)%N -> (forall k, 0 < variance H k 0) ->
  (forall j, second_derivative (L j) ((Hhat *m (P *m z)) j 0) (L2 j)) ->
  is_hessian (fun z => mean_loss L (Hhat *m (P *m z))) z (Ghat^T *m curvature L2 *m Ghat)
  /\ P^T *m (Hhat^T *m curvature L2 *m Hhat) *m P = Ghat^T *m curvature L2 *m Ghat.
Proof.
move=> Hhat P Ghat N0 spread; apply: theorem_3_any_statistics => k.
by rewrite deviation_neq0.
Qed.

(* The features of Ghat have mean zero and variance one. *)
Theorem theorem_3_normalized (R : rcfType) N n (H : 'M[R]_(N, n)) k :
  let G := features H (mean H) (deviation H) in
  (0 < N)%N -> 0 < variance H k 0 ->
  (\sum_j G j k) / N%:R = 0 /\ (\sum_j G j k ^+ 2) / N%:R = 1.
Proof.
move=> G N0 v0; rewrite /G normalized_mean // mul0r; split=> //.
exact: normalized_variance.
Qed.

(* With other statistics they have the mean (mu_H - mu)/s and the variance sigma_H^2/s^2. *)
Theorem theorem_3_other_statistics_corrected (R : rcfType) N n (H : 'M[R]_(N, n)) 
    (mu s : 'cV[R]_n) k :
  let G := features H mu s in
  (0 < N)%N -> s k 0 != 0 ->
  mean G k 0 = (mean H k 0 - mu k 0) / s k 0 /\ variance G k 0 = variance H k 0 / s k 0 ^+ 2.
Proof.
move=> G N0 s0; have N1 := NR_neq0 R N0; 
have gE j : G j k = (H j k - mu k 0) / s k 0 by rewrite mxE.
have mE : mean G k 0 = (mean H k 0 - mu k 0) / s k 0.
  rewrite !meanE; under eq_bigr do rewrite gE; rewrite -big_distrl /= sumrB sumr_const card_ord.
  by rewrite mulrA mulrBr -[mu k 0 *+ N]mulr_natl mulKf.
split=> //; rewrite [LHS]mxE [X in X / _]mxE mE -mulrA big_distrl /=; congr (_ * _).
apply: eq_bigr => j _; rewrite gE -mulrBl -expr_div_n; congr ((_ / _) ^+ 2); ring.
Qed.

(* No statistics are needed for sigma^2 + eps > 0, *)
Theorem theorem_3_every_batch_corrected (R : rcfType) N n (H : 'M[R]_(N, n)) k eps :
  0 < eps -> 0 < variance H k 0 + eps.
Proof.
move=> e0; rewrite ltr_paddl // mxE mulr_ge0 ?invr_ge0 ?ler0n // sumr_ge0 // => j _.
exact: sqr_ge0.
Qed.

(* nor do those that Algorithm 2 guards make a variance of one: all are below 1/(1 + eps_1). *)
Theorem theorem_3_regularized (R : rcfType) N n (H : 'M[R]_(N, n)) k (eps_1 eps_2 largest : R) :
  (forall j, variance H j 0 <= largest) -> 0 <= eps_1 -> 0 < eps_2 ->
  variance H k 0 / (variance H k 0 + eps_1 * largest + eps_2) < 1 / (1 + eps_1).
Proof.
move=> top e1 e2; have v0 := variance_ge0 H k; have l0 : 0 <= largest by apply: le_trans v0 (top k).
have guarded : 0 < variance H k 0 + eps_1 * largest + eps_2.
  by rewrite ltr_paddl // addr_ge0 // mulr_ge0.
have one_e : 0 < 1 + eps_1 by rewrite ltr_paddr ?ltr01.
rewrite ltr_pdivr_mulr // mulrAC ltr_pdivl_mulr // mul1r mulrDr mulr1 -addrA ltr_add2l.
apply: le_lt_trans (_ : eps_1 * largest < _); last by rewrite ltr_addl.
by rewrite mulrC ler_wpmul2l.
Qed.
