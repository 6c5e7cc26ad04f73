(* Section 4, below Proposition 10: the norm of a convolution layer's normalized matrix is at least
   root (N r s), that of its column of ones.

   Hhat = [e, H] of (18) has a row for each pixel of each example; P is of its own statistics. *)
From mathcomp Require Import all_ssreflect all_algebra.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_scaling norm_of_features lemma_8.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Maps.
Variables (R : rcfType) (N r s c k : nat) (h : 'I_N -> 'I_c -> 'M[R]_(r, s)).

(* H of (18), without the column of ones. *)
Definition unfolded_maps : 'M[R]_(\sum_(i < N) s * r, \sum_(p < c) k * k) :=
  rsubmx (unfolded_batch k h).

Lemma unfolded_augmented : unfolded_batch k h = augmented unfolded_maps.
Proof.
rewrite -[LHS]hsubmxK /augmented; congr row_mx.
by apply/matrixP => i j; rewrite !mxE -[lshift _ j]/(unsplit (inl j)) unsplitK mxE.
Qed.
End Maps.

Theorem norm_of_maps_corrected (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s)) sigma :
  let Hhat := unfolded_batch k h in let H := unfolded_maps k h in
  no_constant_feature H ->
  largest_singular_value (Hhat *m preconditioner (mean H) (deviation H)) sigma ->
  N%:R * r%:R * s%:R <= sigma ^+ 2.
Proof.
move=> Hhat H spread norm; have rows : (\sum_(i < N) s * r)%:R = N%:R * r%:R * s%:R :> R.
  by rewrite sum_nat_const card_ord !natrM mulrAC mulrA.
rewrite -rows; case: (posnP (\sum_(i < N) s * r)) => [->|some]; first exact: sqr_ge0.
have := norm_bound norm (stack 1 0); rewrite /Hhat unfolded_augmented augmented_preconditioner.
  rewrite -/(augmented _) augmented_stack mulmx0 addr0 scale1r sq_e sq_stack sq0 addr0 expr1n.
  by rewrite mulr1.
by move=> p; rewrite deviation_neq0 //; apply: spread.
Qed.
