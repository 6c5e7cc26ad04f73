(* Algorithm 3: for a convolution, with one mean and one deviation for the k^2 entries of a channel,
   steps 4 and 5, in this order, are the product with P P'/q^2 of (23). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct Preconditioning.
From BatchNorm.lange2022 Require Import lemma_8 equation_15.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* A number for each channel, for each of its columns. *)
Definition repeated (R : rcfType) c k (z : 'I_c -> R) : 'cV[R]_(\sum_(p < c) k * k) :=
  \mxcol_p const_mx (z p).

(* Of one output: Gw and Gb are the gradients in its kernels and its bias, s is the deviation
   tilde sigma. *)
Theorem algorithm_3_steps (R : rcfType) c k (mu s : 'I_c -> R) (q : R)
    (Gw : 'I_c -> 'M[R]_(k, k)) (Gb : R) :
  let P := preconditioner (repeated k mu) (repeated k s) in
  let Gw' := fun p => \matrix_(i, j) (1 / q ^+ 2 * ((Gw p i j - mu p * Gb) / s p ^+ 2)) in
  let Gb' := 1 / q ^+ 2 * Gb - \sum_p \sum_i \sum_j mu p * Gw' p i j in
  (forall p, s p != 0) ->
  stacked Gw' Gb' = (1 / q ^+ 2) *: (P *m P^T *m stacked Gw Gb).
Proof.
move=> P Gw' Gb' s0; have nonzero j : repeated k s j 0 != 0 by rewrite !mxE.
have := algorithm_2 q (repeated k mu) (\mxcol_p vec (Gw p))^T Gb%:M nonzero.
rewrite /parameters trmxK -/(stacked Gw Gb) => <-.
have -> : (step_4 q (repeated k mu) (\col_j repeated k s j 0 ^+ 2) (\mxcol_p vec (Gw p))^T Gb%:M)
    = (\mxcol_p vec (Gw' p))^T.
  by apply/matrixP => i j; rewrite !mxE !ord1 mulr1n.
rewrite trmxK; congr col_mx; apply/matrixP => i j; rewrite !ord1 !mxE !mulr1n; congr (_ - _).
pose means : 'M[R]_(1, \sum_(p < c) k * k) := \mxrow_p const_mx (mu p).
transitivity ((means *m \mxcol_p vec (Gw' p)) 0 0).
  rewrite /means mul_mxrow_mxcol summxE; apply: eq_bigr => p _; rewrite mxE.
  rewrite -(@sum_number _ _ R (fun i j => mu p * Gw' p i j)); apply: eq_bigr => l _.
  by rewrite [vec _ _ _]mxE [const_mx _ _ _]mxE.
by rewrite mxE; apply: eq_bigr => l _; rewrite !mxE mulrC.
Qed.
